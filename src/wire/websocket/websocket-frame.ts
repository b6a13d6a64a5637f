// Frames of WebSocket (RFC 6455): the header of a frame, masking, and encoding. websocket-reader.ts assembles messages.

export type WebSocketMessage =
  | { readonly kind: 'binary' | 'text'; readonly bytes: Uint8Array }
  | { readonly kind: 'ping' | 'pong'; readonly bytes: Uint8Array }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string }

/** The peer violated the protocol. `code` is the status to close the connection with. */
export class WebSocketError extends Error {
  override name = 'WebSocketError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export const closeCodes = {
  normal: 1000,
  protocolError: 1002,
  /** Stands for a close frame without a code; it is never sent. */
  none: 1005,
  invalidPayload: 1007,
  tooLarge: 1009,
} as const

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
const knownOpcodes: ReadonlySet<number> = new Set(Object.values(opcodes))
const controlBytesMax = 125
const minimumHeaderBytes = 2
/** Two bytes, a length of eight bytes, a mask of four. */
export const headerBytesMax = 14

export interface FrameHeader {
  readonly opcode: number
  readonly isFinal: boolean
  /** Of the payload. */
  readonly length: number
  readonly mask: Uint8Array | undefined
}

export const isControl = (opcode: number): boolean => opcode >= opcodes.close

const lengthBytesOf = (shortLength: number): number => (shortLength === 127 ? 8 : shortLength === 126 ? 2 : 0)

/** The size of the header that begins with these bytes, as far as they determine it. */
export function headerSize(bytes: Uint8Array, available: number): number {
  if (available < minimumHeaderBytes) return minimumHeaderBytes
  const second = bytes[1] ?? 0
  return minimumHeaderBytes + lengthBytesOf(second & 0x7f) + ((second & 0x80) === 0 ? 0 : 4)
}

/** Parses a complete header and rejects frames that no peer may send. */
export function parseHeader(bytes: Uint8Array): FrameHeader {
  const [first = 0, second = 0] = bytes
  const short = second & 0x7f
  const lengthBytes = lengthBytesOf(short)
  let length = lengthBytes === 0 ? short : 0
  for (const byte of bytes.subarray(2, 2 + lengthBytes)) length = length * 256 + byte
  const opcode = first & 0x0f
  const isFinal = (first & 0x80) !== 0
  if ((first & 0x70) !== 0) throw new WebSocketError(closeCodes.protocolError, 'reserved bits are set')
  if (!knownOpcodes.has(opcode)) throw new WebSocketError(closeCodes.protocolError, `unknown opcode ${opcode}`)
  if (isControl(opcode) && (!isFinal || length > controlBytesMax))
    throw new WebSocketError(closeCodes.protocolError, 'a control frame is fragmented or too long')
  const mask = (second & 0x80) === 0 ? undefined : bytes.slice(2 + lengthBytes, 6 + lengthBytes)
  return { opcode, isFinal, length, mask }
}

/** Writes `payload` to `target`, masked or unmasked; `offset` is the position of its first byte in the frame. */
export function applyMask(target: Uint8Array, at: number, payload: Uint8Array, mask: Uint8Array, offset: number): void {
  const [a = 0, b = 0, c = 0, d = 0] = [0, 1, 2, 3].map((index) => mask[(offset + index) & 3])
  let index = 0
  for (; index + 4 <= payload.length; index += 4) {
    target[at + index] = (payload[index] ?? 0) ^ a
    target[at + index + 1] = (payload[index + 1] ?? 0) ^ b
    target[at + index + 2] = (payload[index + 2] ?? 0) ^ c
    target[at + index + 3] = (payload[index + 3] ?? 0) ^ d
  }
  for (; index < payload.length; index++) target[at + index] = (payload[index] ?? 0) ^ (mask[(offset + index) & 3] ?? 0)
}

/** Codes that an endpoint may send: those of the standard and its registry, and those left to libraries and programs. */
const isValidCloseCode = (code: number): boolean =>
  (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999)

export function parseClose(payload: Uint8Array): WebSocketMessage {
  if (payload.length === 0) return { kind: 'close', code: closeCodes.none, reason: '' }
  const [high = 0, low = 0] = payload
  const code = high * 256 + low
  if (payload.length === 1 || !isValidCloseCode(code))
    throw new WebSocketError(closeCodes.protocolError, 'a close frame has no valid code')
  try {
    return { kind: 'close', code, reason: new TextDecoder('utf-8', { fatal: true }).decode(payload.subarray(2)) }
  } catch {
    throw new WebSocketError(closeCodes.invalidPayload, 'the reason of a close frame is not valid UTF-8')
  }
}

/** Encodes a message as one frame. A client passes a mask. */
export function encodeMessage(message: WebSocketMessage, mask?: Uint8Array): Uint8Array {
  const payload = payloadOf(message)
  const { length } = payload
  const lengthBytes = length > 0xffff ? 8 : length > controlBytesMax ? 2 : 0
  const size = 2 + lengthBytes + (mask === undefined ? 0 : 4)
  const frame = new Uint8Array(size + length)
  const view = new DataView(frame.buffer)
  view.setUint8(0, 0x80 | opcodes[message.kind])
  view.setUint8(1, (mask === undefined ? 0 : 0x80) | (lengthBytes === 8 ? 127 : lengthBytes === 2 ? 126 : length))
  if (lengthBytes === 2) view.setUint16(2, length)
  if (lengthBytes === 8) view.setBigUint64(2, BigInt(length))
  if (mask === undefined) frame.set(payload, size)
  else {
    frame.set(mask, size - 4)
    applyMask(frame, size, payload, mask, 0)
  }
  return frame
}

function payloadOf(message: WebSocketMessage): Uint8Array {
  if (message.kind !== 'close') return message.bytes
  if (message.code === closeCodes.none) return new Uint8Array()
  return Uint8Array.of(message.code >> 8, message.code & 0xff, ...reasonBytes(message.reason))
}

/** A longer reason is cut after a whole character. */
function reasonBytes(reason: string): Uint8Array {
  const bytes = new Uint8Array(controlBytesMax - 2)
  return bytes.subarray(0, new TextEncoder().encodeInto(reason, bytes).written)
}
