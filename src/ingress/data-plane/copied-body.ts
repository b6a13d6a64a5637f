// CopiedBody: the body of a request that is also mirrored. It is read once, as fast as its reader takes pieces; a copy whose
// reader is slower holds a bounded number of bytes and fails beyond it.

/** Bytes that wait for the reader of one copy. */
const waitingBytesMax = 1 << 20

export class CopiedBody implements AsyncIterable<Uint8Array> {
  readonly #source: AsyncIterable<Uint8Array>
  readonly #copies: BodyCopy[] = []

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source
  }

  /** Must be called before the body is read. */
  copy(): AsyncIterable<Uint8Array> {
    const copy = new BodyCopy()
    this.#copies.push(copy)
    return copy
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    let end: 'ended' | Error = new Error('the body was not read to its end')
    try {
      for await (const piece of this.#source) {
        for (const copy of this.#copies) copy.add(piece)
        yield piece
      }
      end = 'ended'
    } finally {
      for (const copy of this.#copies) copy.finish(end)
    }
  }
}

class BodyCopy implements AsyncIterable<Uint8Array> {
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #state: 'open' | 'ended' | Error = 'open'
  #wake: (() => void) | undefined

  add(piece: Uint8Array): void {
    if (this.#state !== 'open') return
    this.#waiting.push(piece)
    this.#waitingBytes += piece.length
    if (this.#waitingBytes > waitingBytesMax) this.finish(new Error('the copy of the body is read too slowly'))
    this.#wake?.()
  }

  finish(how: 'ended' | Error): void {
    if (this.#state !== 'open') return
    this.#state = how
    if (how !== 'ended') this.#waiting = []
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const pieces = this.#waiting
        this.#waiting = []
        this.#waitingBytes = 0
        yield* pieces
        if (this.#waiting.length > 0) continue
        if (this.#state instanceof Error) throw this.#state
        if (this.#state === 'ended') return
        await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      this.finish('ended')
    }
  }
}
