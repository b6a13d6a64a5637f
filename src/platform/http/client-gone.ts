// clientGone: why the requests of a closed connection end. One error for all of them: a stack for each of thousands of streams
// takes long.
export const clientGone = new DOMException('the client has disconnected', 'AbortError')
