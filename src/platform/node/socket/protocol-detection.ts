// Distinguishes TLS from plain HTTP by the first bytes of a connection.
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

/** Calls back once; the bytes that were read are put back into the socket. */
export function detectProtocol(socket: Socket, onKind: (kind: DetectedProtocol) => void): void {
  let bytes: Buffer = Buffer.alloc(0)
  const detect = () => {
    const piece = socket.read() as Buffer | null
    if (piece === null) return
    bytes = bytes.length === 0 ? piece : Buffer.concat([bytes, piece])
    const kind = protocolOf(bytes)
    if (kind === undefined) return
    socket.off('readable', detect)
    socket.unshift(bytes)
    onKind(kind)
  }
  socket.on('readable', detect)
}
