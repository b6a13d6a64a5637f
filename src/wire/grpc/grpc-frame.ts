// Frames of gRPC: a byte for whether the message is compressed, the length of the message, the message.

const headBytes = 5

export function frame(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const framed = new Uint8Array(headBytes + message.length)
  new DataView(framed.buffer).setUint32(1, message.length)
  framed.set(message, headBytes)
  return framed
}

export class FrameError extends Error {
  override name = 'FrameError'
  readonly code: 'RESOURCE_EXHAUSTED' | 'INTERNAL'

  constructor(code: FrameError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** Assembles messages from pieces of any size. Buffers at most one message of the allowed size and one piece. */
export class FrameReader {
  readonly #messageBytesMax: number
  #pieces: Uint8Array[] = []
  #bytes = 0
  /** The size of the next frame; until its header has arrived, the size of the header. */
  #needed = headBytes

  constructor(messageBytesMax: number) {
    this.#messageBytesMax = messageBytesMax
  }

  /** Whether part of a frame has arrived. */
  get isMidMessage(): boolean {
    return this.#bytes > 0
  }

  /** The messages that this piece completes; they may be views of it. Throws FrameError. */
  push(piece: Uint8Array): Uint8Array[] {
    this.#pieces.push(piece)
    this.#bytes += piece.length
    const messages: Uint8Array[] = []
    while (this.#bytes >= this.#needed) {
      const joined = this.#joined()
      const end = headBytes + this.#lengthOf(joined)
      if (joined.length < end) {
        this.#needed = end
        break
      }
      messages.push(joined.subarray(headBytes, end))
      const rest = joined.subarray(end)
      this.#pieces = rest.length === 0 ? [] : [rest]
      this.#bytes = rest.length
      this.#needed = headBytes
    }
    return messages
  }

  #joined(): Uint8Array {
    const [first] = this.#pieces
    if (first !== undefined && this.#pieces.length === 1) return first
    const joined = new Uint8Array(this.#bytes)
    let at = 0
    for (const piece of this.#pieces) {
      joined.set(piece, at)
      at += piece.length
    }
    this.#pieces = [joined]
    return joined
  }

  #lengthOf(head: Uint8Array): number {
    if (head[0] !== 0) throw new FrameError('INTERNAL', 'the message is compressed, which was not negotiated')
    const length = new DataView(head.buffer, head.byteOffset).getUint32(1)
    if (length > this.#messageBytesMax)
      throw new FrameError('RESOURCE_EXHAUSTED', `a message of ${length} bytes is larger than ${this.#messageBytesMax}`)
    return length
  }
}
