// BodyPieces: the body of a request as a stream, for handlers that forward it. The connection stops reading the socket while
// too many pieces wait for the handler.

/** Bytes that wait for the handler before the socket is paused. */
const waitingBytesMax = 64 << 10

export class BodyPieces implements AsyncIterable<Uint8Array> {
  readonly #onRoom: () => void
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #state: 'open' | 'ended' | Error = 'open'
  #wake: (() => void) | undefined

  /** `onRoom` is called when the handler has taken what was waiting. */
  constructor(onRoom: () => void) {
    this.#onRoom = onRoom
  }

  get waitingBytes(): number {
    return this.#waitingBytes
  }

  get isFull(): boolean {
    return this.#waitingBytes > waitingBytesMax
  }

  push(piece: Uint8Array): void {
    if (this.#state !== 'open' || piece.length === 0) return
    this.#waiting.push(piece)
    this.#waitingBytes += piece.length
    this.#wake?.()
  }

  end(): void {
    if (this.#state === 'open') this.#state = 'ended'
    this.#wake?.()
  }

  fail(error: Error): void {
    if (this.#state !== 'open') return
    this.#state = error
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      const pieces = this.#waiting
      this.#waiting = []
      this.#waitingBytes = 0
      this.#onRoom()
      yield* pieces
      if (this.#waiting.length > 0) continue
      if (this.#state instanceof Error) throw this.#state
      if (this.#state === 'ended') return
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
