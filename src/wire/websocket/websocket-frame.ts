// Frames of WebSocket (RFC 6455): bytes in, whole messages and control frames out, and back.

export type WebSocketMessage =
  | { readonly kind: 'binary' | 'text'; readonly bytes: Uint8Array }
  | { readonly kind: 'ping' | 'pong'; readonly bytes: Uint8Array }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string }

/** The other side breaks the protocol; the code is the one to close with. */
export class WebSocketError extends Error {
  override name = 'WebSocketError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export const closeCodes = { normal: 1000, protocolError: 1002, tooLarge: 1009, none: 1005 } as const

const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
const controlBytesMax = 125
const messageBytesMax = 4 * 1024 * 1024

interface Head {
  readonly opcode: number
  readonly isFinal: boolean
  readonly length: number
  readonly mask: Uint8Array | undefined
  readonly size: number
}

export class WebSocketReader {
  /** Clients mask what they send; servers do not. */
  readonly #isMasked: boolean
  #pending = new Uint8Array()
  #parts: Uint8Array[] = []
  #partsBytes = 0
  #kind: 'binary' | 'text' | undefined

  constructor(from: 'client' | 'server') {
    this.#isMasked = from === 'client'
  }

  /** The messages that these bytes complete. */
  *push(bytes: Uint8Array): Generator<WebSocketMessage> {
    let rest: Uint8Array = bytes
    if (this.#pending.length > 0) {
      rest = new Uint8Array(this.#pending.length + bytes.length)
      rest.set(this.#pending)
      rest.set(bytes, this.#pending.length)
      this.#pending = new Uint8Array()
    }
    for (;;) {
      const head = headOf(rest)
      if (head !== undefined) this.#check(head)
      if (head === undefined || rest.length < head.size + head.length) break
      const payload = unmasked(rest.subarray(head.size, head.size + head.length), head.mask)
      rest = rest.subarray(head.size + head.length)
      const message = this.#take(head, payload)
      if (message !== undefined) yield message
    }
    this.#pending = Uint8Array.from(rest)
  }

  #check({ opcode, isFinal, length, mask }: Head): void {
    if ((mask !== undefined) !== this.#isMasked)
      throw new WebSocketError(closeCodes.protocolError, 'a frame is masked wrongly')
    if (opcode >= opcodes.close && (!isFinal || length > controlBytesMax))
      throw new WebSocketError(closeCodes.protocolError, 'a control frame is too long')
    if (this.#partsBytes + length > messageBytesMax)
      throw new WebSocketError(closeCodes.tooLarge, `a message of more than ${messageBytesMax} bytes`)
  }

  #take({ opcode, isFinal }: Head, payload: Uint8Array): WebSocketMessage | undefined {
    switch (opcode) {
      case opcodes.ping:
        return { kind: 'ping', bytes: payload }
      case opcodes.pong:
        return { kind: 'pong', bytes: payload }
      case opcodes.close:
        return closeOf(payload)
      case opcodes.text:
      case opcodes.binary:
      case opcodes.continuation:
        if ((opcode === opcodes.continuation) !== (this.#kind !== undefined))
          throw new WebSocketError(closeCodes.protocolError, 'a message begins within another, or goes on without one')
        this.#kind ??= opcode === opcodes.text ? 'text' : 'binary'
        return this.#part(payload, isFinal, this.#kind)
      default:
        throw new WebSocketError(closeCodes.protocolError, `unknown kind of frame ${opcode}`)
    }
  }

  #part(payload: Uint8Array, isFinal: boolean, kind: 'binary' | 'text'): WebSocketMessage | undefined {
    this.#parts.push(payload)
    this.#partsBytes += payload.length
    if (!isFinal) return undefined
    const bytes = this.#parts.length === 1 ? payload : new Uint8Array(this.#partsBytes)
    if (this.#parts.length > 1) {
      let at = 0
      for (const part of this.#parts) {
        bytes.set(part, at)
        at += part.length
      }
    }
    this.#parts = []
    this.#partsBytes = 0
    this.#kind = undefined
    return { kind, bytes }
  }
}

function headOf(bytes: Uint8Array): Head | undefined {
  const [first, second] = bytes
  if (first === undefined || second === undefined) return undefined
  if ((first & 0x70) !== 0) throw new WebSocketError(closeCodes.protocolError, 'no extension was agreed upon')
  const short = second & 0x7f
  const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 0
  const isMasked = (second & 0x80) !== 0
  const size = 2 + lengthBytes + (isMasked ? 4 : 0)
  if (bytes.length < size) return undefined
  let length = lengthBytes === 0 ? short : 0
  for (const byte of bytes.subarray(2, 2 + lengthBytes)) length = length * 256 + byte
  const mask = isMasked ? bytes.slice(size - 4, size) : undefined
  return { opcode: first & 0x0f, isFinal: (first & 0x80) !== 0, length, mask, size }
}

function unmasked(payload: Uint8Array, mask: Uint8Array | undefined): Uint8Array {
  if (mask === undefined) return payload
  const [a = 0, b = 0, c = 0, d = 0] = mask
  const clear = new Uint8Array(payload.length)
  let at = 0
  for (; at + 4 <= payload.length; at += 4) {
    clear[at] = (payload[at] ?? 0) ^ a
    clear[at + 1] = (payload[at + 1] ?? 0) ^ b
    clear[at + 2] = (payload[at + 2] ?? 0) ^ c
    clear[at + 3] = (payload[at + 3] ?? 0) ^ d
  }
  for (; at < payload.length; at++) clear[at] = (payload[at] ?? 0) ^ (mask[at & 3] ?? 0)
  return clear
}

function closeOf(payload: Uint8Array): WebSocketMessage {
  const [high, low] = payload
  if (high === undefined || low === undefined) return { kind: 'close', code: closeCodes.none, reason: '' }
  return { kind: 'close', code: high * 256 + low, reason: new TextDecoder().decode(payload.subarray(2)) }
}

/** One frame for a message; a client masks it. */
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
  if (mask !== undefined) frame.set(mask, size - 4)
  frame.set(unmasked(payload, mask), size)
  return frame
}

function payloadOf(message: WebSocketMessage): Uint8Array {
  if (message.kind !== 'close') return message.bytes
  if (message.code === closeCodes.none) return new Uint8Array()
  // A reason beyond the bound of control frames is cut.
  const reason = new TextEncoder().encode(message.reason).subarray(0, controlBytesMax - 2)
  return Uint8Array.of(message.code >> 8, message.code & 0xff, ...reason)
}
