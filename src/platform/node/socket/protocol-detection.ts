// Distinguishes TLS from plain HTTP, and HTTP/2 from HTTP/1.1, by the first bytes of a connection.
import type { Socket } from 'node:net'

/** The response of upstream to plain HTTP on an HTTPS port. */
export const plainHttpResponse = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n'

/** The first byte of a TLS handshake record. */
const handshakeRecord = 0x16
/** As upstream: first bytes that are treated as HTTP. */
const httpBeginnings = ['GET /', 'HEAD ', 'POST ', 'PUT /', 'OPTIO']
const beginningBytes = 5

export type DetectedProtocol = 'tls' | 'http' | 'unknown'

/** Undefined if there are too few bytes. */
export function protocolOf(bytes: Uint8Array): DetectedProtocol | undefined {
  if (bytes[0] === handshakeRecord) return 'tls'
  if (bytes.length < beginningBytes) return undefined
  return httpBeginnings.includes(String.fromCharCode(...bytes.subarray(0, beginningBytes))) ? 'http' : 'unknown'
}

/** The beginning of the preface of HTTP/2 (RFC 9113, 3.4). No request of HTTP/1.1 has the method PRI. */
const http2Beginning = 'PRI '

/** Whether a client speaks HTTP/2 without TLS with prior knowledge. Undefined if there are too few bytes. */
export function plainProtocolOf(bytes: Uint8Array): 'http1' | 'http2' | undefined {
  const beginning = String.fromCharCode(...bytes.subarray(0, http2Beginning.length))
  if (beginning === http2Beginning) return 'http2'
  return http2Beginning.startsWith(beginning) ? undefined : 'http1'
}

/** Calls back once; the bytes that were read are put back into the socket. */
export function detectProtocol<Kind extends string>(
  socket: Socket,
  kindOf: (bytes: Uint8Array) => Kind | undefined,
  onKind: (kind: Kind) => void,
): void {
  let bytes: Buffer = Buffer.alloc(0)
  const detect = () => {
    const piece = socket.read() as Buffer | null
    if (piece === null) return
    bytes = bytes.length === 0 ? piece : Buffer.concat([bytes, piece])
    const kind = kindOf(bytes)
    if (kind === undefined) return
    socket.off('readable', detect)
    socket.unshift(bytes)
    onKind(kind)
  }
  socket.on('readable', detect)
}
