// PieceQueue: the pieces of a body between its producer and its reader, which takes them as an async iterable. The
// producer bounds the queue: it stops receiving, or fails the queue, while `waitingBytes` is too high.

export interface PieceQueueEvents {
  /** The reader has taken all pieces that were waiting. */
  readonly onRoom?: () => void
  /** The reader has left before the end. */
  readonly onLeft?: () => void
}

export class PieceQueue implements AsyncIterable<Uint8Array> {
  readonly #events: PieceQueueEvents
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #state: 'open' | 'ended' | Error = 'open'
  #wake: (() => void) | undefined

  constructor(events: PieceQueueEvents = {}) {
    this.#events = events
  }

  /** Neither ended nor failed, and its reader has not left. */
  get isOpen(): boolean {
    return this.#state === 'open'
  }

  get waitingBytes(): number {
    return this.#waitingBytes
  }

  push(piece: Uint8Array): void {
    if (this.#state !== 'open' || piece.length === 0) return
    this.#waiting.push(piece)
    this.#waitingBytes += piece.length
    this.#wake?.()
  }

  /** The reader gets the waiting pieces, and then the end. */
  end(): void {
    this.#finish('ended')
  }

  /** The reader gets the waiting pieces, and then the error. */
  fail(error: Error): void {
    this.#finish(error)
  }

  /** Iterated once. `return` has its effect also before the first piece, unlike that of a generator. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, void> {
    return {
      next: () => this.#next(),
      return: async () => {
        this.#leave()
        return { done: true, value: undefined }
      },
    }
  }

  async #next(): Promise<IteratorResult<Uint8Array, void>> {
    if (this.#waiting.length === 0 && this.#state === 'open')
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        this.#events.onRoom?.()
      })
    const value = this.#waiting.shift()
    if (value !== undefined) {
      this.#waitingBytes -= value.length
      if (this.#waiting.length === 0) this.#events.onRoom?.()
      return { done: false, value }
    }
    if (this.#state instanceof Error) throw this.#state
    return { done: true, value: undefined }
  }

  #leave(): void {
    this.#waiting = []
    this.#waitingBytes = 0
    if (this.#state !== 'open') return
    this.#state = 'ended'
    this.#wake?.()
    this.#events.onLeft?.()
  }

  #finish(how: 'ended' | Error): void {
    if (this.#state !== 'open') return
    this.#state = how
    this.#wake?.()
  }
}
