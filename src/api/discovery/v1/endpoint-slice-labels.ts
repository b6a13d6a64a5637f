// Labels and annotations of EndpointSlices that producers and consumers share.

/** The name of the Service whose endpoints the slice lists. */
export const serviceNameLabel = 'kubernetes.io/service-name'
/** Slices of headless Services. Service proxies ignore them. */
export const headlessLabel = 'service.kubernetes.io/headless'
/** An annotation: when the change happened that the slice was last updated for. */
export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time'
