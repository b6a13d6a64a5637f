// What the Gateways and routes of one namespace, and all Gateways together, may use of the proxy. Older ones come first, so
// that new ones cannot displace them. Without these limits, a few small objects would open thousands of ports.

/** Ports that Gateways open; those of Ingresses and of older Gateways are shared and do not count. */
export const portsPerNamespaceMax = 128
export const portsMax = 512
/** Listeners with different hostnames may share a port. */
export const listenersPerNamespaceMax = 256
/**
 * Matches of the routes of a namespace at listeners, of whatever namespace these are. Each match counts once for each
 * hostname and listener, because a route of some kilobytes can have 128 matches, 16 hostnames and 2,048 listeners.
 */
export const matchesPerNamespaceMax = 20_000
