// CopiedBody: the body of a request that is also mirrored. It is read once, as fast as its reader takes pieces; a copy whose
// reader is slower holds a bounded number of bytes and fails beyond it.
import { PieceQueue } from '../../platform/http/piece-queue.ts'

/** Bytes that wait for the reader of one copy. */
const waitingBytesMax = 1 << 20

export class CopiedBody implements AsyncIterable<Uint8Array> {
  readonly #source: AsyncIterable<Uint8Array>
  readonly #copies: PieceQueue[] = []

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source
  }

  /** Must be called before the body is read. */
  copy(): AsyncIterable<Uint8Array> {
    const copy = new PieceQueue()
    this.#copies.push(copy)
    return copy
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    let isComplete = false
    try {
      for await (const piece of this.#source) {
        for (const copy of this.#copies) add(copy, piece)
        yield piece
      }
      isComplete = true
    } finally {
      for (const copy of this.#copies)
        if (isComplete) copy.end()
        else copy.fail(new Error('the body was not read to its end'))
    }
  }
}

function add(copy: PieceQueue, piece: Uint8Array): void {
  copy.push(piece)
  if (copy.waitingBytes > waitingBytesMax) copy.fail(new Error('the copy of the body is read too slowly'))
}
