// BytePipe: bytes from one writer to one reader, bounded: a writer waits while the reader is far behind. And what is done
// with byte streams everywhere: copying one into another, joining two.
import type { ByteStream } from '../platform/http/byte-stream.ts'

export class BytePipe {
  readonly #bytesMax: number
  #pieces: Uint8Array[] = []
  #bytes = 0
  #isOver = false
  #isAbandoned = false
  #readerWaits: (() => void) | undefined
  #writerWaits: (() => void) | undefined

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Resolves when more may be written. What is written when nobody reads any more is dropped. */
  async write(piece: Uint8Array): Promise<void> {
    if (this.#isOver || this.#isAbandoned || piece.length === 0) return
    this.#pieces.push(piece)
    this.#bytes += piece.length
    this.#readerWaits?.()
    while (this.#bytes > this.#bytesMax && !this.#isAbandoned) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#writerWaits = resolve
      await promise
    }
  }

  /** What was written is still read, then the reader sees the end. */
  end(): void {
    this.#isOver = true
    this.#readerWaits?.()
  }

  /** The reader is gone: what is there and what comes is dropped. */
  abandon(): void {
    this.#isAbandoned = true
    this.#pieces = []
    this.#bytes = 0
    this.#writerWaits?.()
    this.#readerWaits?.()
  }

  async *read(): AsyncGenerator<Uint8Array, void> {
    try {
      while (!this.#isAbandoned) {
        const piece = this.#pieces.shift()
        if (piece !== undefined) {
          this.#bytes -= piece.length
          if (this.#bytes <= this.#bytesMax) this.#writerWaits?.()
          yield piece
        } else if (this.#isOver) return
        else {
          const { promise, resolve } = Promise.withResolvers<void>()
          this.#readerWaits = resolve
          await promise
        }
      }
    } finally {
      this.abandon()
    }
  }
}

/**
 * Copies to the end, and ends. What cannot be written is dropped, but read: leaving a source early would cut its
 * connection before what was written to it has left.
 */
export async function copyStream(
  from: AsyncIterable<Uint8Array>,
  to: Pick<ByteStream, 'write' | 'end'>,
  onWriteError: () => void = () => {},
): Promise<void> {
  let isLost = false
  const lose = () => {
    isLost = true
    onWriteError()
  }
  for await (const piece of from) if (!isLost) await to.write(piece).catch(lose)
  to.end()
}

/** Copies both ways until either side ends; then both end. */
export async function joinStreams(one: ByteStream, other: ByteStream): Promise<void> {
  const end = () => {
    one.end()
    other.end()
  }
  const pass = async (from: ByteStream, to: ByteStream) => {
    await copyStream(from.pieces, to, end).catch(() => {}) // a side that breaks has ended
    end()
  }
  await Promise.all([pass(one, other), pass(other, one)])
}

/** Two ends of one connection in memory. */
export function byteStreamPair(bytesMax: number): readonly [ByteStream, ByteStream] {
  const [there, back] = [new BytePipe(bytesMax), new BytePipe(bytesMax)]
  const endOf = (incoming: BytePipe, outgoing: BytePipe): ByteStream => ({
    pieces: incoming.read(),
    write: (piece) => outgoing.write(piece),
    end: () => outgoing.end(),
    destroy() {
      outgoing.end()
      incoming.abandon()
    },
  })
  return [endOf(back, there), endOf(there, back)]
}
