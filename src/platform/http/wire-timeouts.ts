// Timeouts for clients in seconds, for an HTTP/1.1 connection and for each stream of HTTP/2.

/** To send the head of a request, or the preface of HTTP/2. */
export const headSecondsMax = 30
/** To send a body, from when the handler reads it. */
export const bodySecondsMax = 60
/** Between two requests. As upstream. */
export const idleSecondsMax = 90
/** To receive response bytes that do not fit into the buffers of the connection. */
export const stalledSecondsMax = 120
/** To close its side of the connection once the server has closed its own. */
export const lingerSecondsMax = 5
