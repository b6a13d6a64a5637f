// A ring buffer in shared memory: one thread writes frames, another reads them, and neither blocks. A frame is a tag (4
// bytes), a length (4 bytes) and its bytes, padded to a multiple of eight.
//
// Before the reader sleeps it sets a mark and checks for frames once more; the writer publishes frames before it checks
// the mark. Both orders are sequentially consistent, so at least one of them sees the other and no wake-up is lost. The
// same holds for a writer that needs room. byte-ring.model.test.ts checks all interleavings.

const marksBytes = 64
const headBytes = 8

/** Indexes of the marks: the positions of writer and reader, in bytes modulo 2^32, and two flags. */
const written = 0
const read = 1
const readerSleeps = 2
const writerNeedsRoom = 3

/** `bytes` is a power of two. */
export const newRing = (bytes: number): SharedArrayBuffer => new SharedArrayBuffer(marksBytes + bytes)

/** A string has a byte for each character. */
export type Chunk = string | Uint8Array

export const sliceChunk = (chunk: Chunk, from: number, to?: number): Chunk =>
  typeof chunk === 'string' ? chunk.slice(from, to) : chunk.subarray(from, to)

/** Smaller frames share their memory. */
const unpooledBytesMin = 8 << 10

const padded = (size: number) => (size + 7) & ~7

/** A view of the shared memory. */
class Ring {
  readonly marks: Int32Array
  readonly words: Int32Array
  readonly bytes: Buffer
  readonly mask: number

  constructor(memory: SharedArrayBuffer) {
    const size = memory.byteLength - marksBytes
    this.marks = new Int32Array(memory, 0, marksBytes / 4)
    this.words = new Int32Array(memory, marksBytes)
    this.bytes = Buffer.from(memory, marksBytes, size)
    this.mask = size - 1
  }

  isMarked(mark: number): boolean {
    return Atomics.load(this.marks, mark) === 1
  }

  /** Clears a flag; true for exactly one of the callers. */
  unmark(mark: number): boolean {
    return this.isMarked(mark) && Atomics.exchange(this.marks, mark, 0) === 1
  }
}

interface Frame {
  readonly tag: number
  readonly chunks: readonly Chunk[]
  readonly size: number
}

export class RingWriter {
  readonly #ring: Ring
  readonly #wake: () => void
  #at = 0
  /** Frames for which there was no room, in order. */
  #waiting: Frame[] = []

  constructor(memory: SharedArrayBuffer, wakeReader: () => void) {
    this.#ring = new Ring(memory)
    this.#wake = wakeReader
  }

  get isFull(): boolean {
    return this.#waiting.length > 0
  }

  /** Writes the chunks as one frame; the reader sees it after the next `publish`. */
  write(tag: number, chunks: readonly Chunk[], size: number): void {
    if (this.isFull || !this.#put({ tag, chunks, size })) this.#waiting.push({ tag, chunks, size })
  }

  publish(): void {
    const ring = this.#ring
    if (this.isFull) {
      const stuck = this.#waiting.findIndex((frame) => !this.#put(frame))
      this.#waiting = stuck < 0 ? [] : this.#waiting.slice(stuck)
    }
    Atomics.store(ring.marks, written, this.#at)
    if (this.isFull) Atomics.store(ring.marks, writerNeedsRoom, 1)
    if (ring.unmark(readerSleeps)) this.#wake()
  }

  #put({ tag, chunks, size }: Frame): boolean {
    const { marks, words, bytes, mask } = this.#ring
    const used = (this.#at - Atomics.load(marks, read)) | 0
    const length = headBytes + padded(size)
    if (used + length > bytes.length) return false
    const word = (this.#at & mask) >> 2
    words[word] = tag
    words[word + 1] = size
    let at = this.#at + headBytes
    for (const chunk of chunks) {
      this.#copy(chunk, at & mask)
      at += chunk.length
    }
    this.#at = (this.#at + length) | 0
    return true
  }

  #copy(chunk: Chunk, to: number): void {
    const { bytes } = this.#ring
    const room = bytes.length - to
    if (chunk.length > room) {
      this.#copy(sliceChunk(chunk, 0, room), to)
      this.#copy(sliceChunk(chunk, room), 0)
    } else if (typeof chunk === 'string') bytes.write(chunk, to, 'latin1')
    else bytes.set(chunk, to)
  }
}

export class RingReader {
  readonly #ring: Ring
  readonly #wake: () => void
  #at = 0

  constructor(memory: SharedArrayBuffer, wakeWriter: () => void) {
    this.#ring = new Ring(memory)
    this.#wake = wakeWriter
  }

  /** Reads up to `framesMax` frames; the callback owns their bytes. */
  take(framesMax: number, onFrame: (tag: number, bytes: Buffer) => void): void {
    const { marks, words, bytes, mask } = this.#ring
    const end = Atomics.load(marks, written)
    for (let count = 0; count < framesMax && this.#at !== end; count++) {
      const word = (this.#at & mask) >> 2
      const tag = words[word] as number
      const size = words[word + 1] as number
      // A large frame shares its memory with no other, so that it can be freed (see releaseBytes).
      const frame = size < unpooledBytesMin ? Buffer.allocUnsafe(size) : Buffer.allocUnsafeSlow(size)
      const from = (this.#at + headBytes) & mask
      const first = bytes.copy(frame, 0, from, from + size)
      if (first < size) bytes.copy(frame, first, 0, size - first)
      this.#at = (this.#at + headBytes + padded(size)) | 0
      Atomics.store(marks, read, this.#at)
      onFrame(tag, frame)
    }
    if (this.#ring.unmark(writerNeedsRoom)) this.#wake()
  }

  /** Returns false if there is something to do; otherwise the writer wakes the reader when there is. */
  sleep(): boolean {
    const ring = this.#ring
    Atomics.store(ring.marks, readerSleeps, 1)
    if (Atomics.load(ring.marks, written) === this.#at && !ring.isMarked(writerNeedsRoom)) return true
    // The writer may have woken the reader in the meantime; that wake-up has no effect.
    Atomics.store(ring.marks, readerSleeps, 0)
    return false
  }
}
