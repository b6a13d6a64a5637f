// Messages on a byte stream: each follows its length in two bytes (RFC 1035, 4.2.2).
import { concatBytes } from '../../base/collections/concat-bytes.ts'
import { readUint16 } from './header.ts'

/** The message with its length before it. */
export function framed(message: Uint8Array): Uint8Array {
  const frame = new Uint8Array(message.length + 2)
  frame[0] = message.length >>> 8
  frame[1] = message.length
  frame.set(message, 2)
  return frame
}

/** Splits a stream into messages. It holds at most one incomplete message, and joins its pieces when it is complete. */
export class FrameReader {
  readonly #messageBytesMax: number
  #pieces: Uint8Array[] = []
  #held = 0
  /** Bytes from which on there is something to read: a length, or a message. */
  #needed = 2

  constructor(messageBytesMax: number) {
    this.#messageBytesMax = messageBytesMax
  }

  /** The messages that the piece completes; undefined if one is longer than allowed. */
  push(piece: Uint8Array): Uint8Array[] | undefined {
    this.#pieces.push(piece)
    this.#held += piece.length
    if (this.#held < this.#needed) return []
    const bytes = this.#pieces.length === 1 ? piece : concatBytes(this.#pieces)
    const messages: Uint8Array[] = []
    let at = 0
    this.#needed = 2
    while (at + 2 <= bytes.length) {
      const length = readUint16(bytes, at)
      if (length > this.#messageBytesMax) return undefined
      this.#needed = length + 2
      if (at + this.#needed > bytes.length) break
      messages.push(bytes.slice(at + 2, at + this.#needed))
      at += this.#needed
      this.#needed = 2
    }
    this.#pieces = at === bytes.length ? [] : [bytes.slice(at)]
    this.#held = bytes.length - at
    return messages
  }
}
