// Labels of EndpointSlices that producers and consumers share.

/** The name of the Service whose endpoints the slice lists. */
export const serviceNameLabel = 'kubernetes.io/service-name'
/** Slices of headless Services. Service proxies ignore them. */
export const headlessLabel = 'service.kubernetes.io/headless'
