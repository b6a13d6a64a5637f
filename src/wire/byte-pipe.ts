// BytePipe: a bounded pipe from one writer to one reader; the writer waits while the reader is too far behind. Also
// functions for byte streams: copying one to another, joining two.
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

  /** Resolves when more may be written. After the reader has left, bytes are dropped. */
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

  /** The reader sees the end after the bytes that were written. */
  end(): void {
    this.#isOver = true
    this.#readerWaits?.()
  }

  /** Called when the reader leaves: buffered and further bytes are dropped. */
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
 * Copies to the end, then ends the target. When a write fails, the rest is still read and dropped: leaving the source
 * early would cut its connection before what was written to it has been sent.
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

/** Copies in both directions until either side ends, then ends both. */
export async function joinStreams(one: ByteStream, other: ByteStream): Promise<void> {
  const end = () => {
    one.end()
    other.end()
  }
  const pass = async (from: ByteStream, to: ByteStream) => {
    await copyStream(from.pieces, to, end).catch(() => {}) // a broken side counts as ended
    end()
  }
  await Promise.all([pass(one, other), pass(other, one)])
}

/** The two ends of a connection in memory. */
export function byteStreamPair(bytesMax: number): readonly [ByteStream, ByteStream] {
  const there = new BytePipe(bytesMax)
  const back = new BytePipe(bytesMax)
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
