// The handshake of WebSocket: detecting an upgrade request, and the headers of its response.

export type RequestHeaders = Readonly<Record<string, string | undefined>>

export const isWebSocketUpgrade = (headers: RequestHeaders): boolean =>
  headers['upgrade']?.toLowerCase() === 'websocket' && headers['sec-websocket-key'] !== undefined

/** The subprotocols that a client offers, best first. */
export const offeredWebSocketProtocols = (headers: RequestHeaders): readonly string[] =>
  parseHeaderList(headers['sec-websocket-protocol'] ?? '')

export const parseHeaderList = (value: string): readonly string[] =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

const keySuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** The headers of the 101 response. */
export const webSocketUpgradeHeaders = (
  headers: RequestHeaders,
  protocol: string | undefined,
  sha1: (text: string) => Uint8Array,
): Record<string, string> => ({
  upgrade: 'websocket',
  connection: 'Upgrade',
  'sec-websocket-accept': sha1(`${headers['sec-websocket-key'] ?? ''}${keySuffix}`).toBase64(),
  ...(protocol === undefined ? {} : { 'sec-websocket-protocol': protocol }),
})
