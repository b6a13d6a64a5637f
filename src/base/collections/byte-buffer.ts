// ByteBuffer: bytes that are collected from pieces until they are complete. Its capacity doubles, so that many small
// pieces cost linear time; bytes that arrive in one piece are allocated once. Memory that it has outgrown is freed at once:
// that of large bodies would add up until the next garbage collection.

export class ByteBuffer {
  readonly #expected: number
  #buffer = new Uint8Array()
  #length = 0

  /** `expected`: how long the bytes will be at most, where it is known. More may be appended. */
  constructor(expected = Infinity) {
    this.#expected = expected
  }

  get length(): number {
    return this.#length
  }

  /** A view, valid until the next append. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }

  /** Copies the piece; returns a view of the copy, valid until the next append. */
  append(piece: Uint8Array): Uint8Array {
    const start = this.#length
    const end = this.#length + piece.length
    if (end > this.#buffer.length) {
      const capacity = Math.max(end, Math.min(this.#buffer.length * 2, this.#expected))
      this.#buffer = new Uint8Array(this.#buffer.buffer.transfer(capacity))
    }
    this.#buffer.set(piece, start)
    this.#length = end
    return this.#buffer.subarray(start, end)
  }

  /** Returns the bytes, with no spare capacity, and starts empty again. */
  take(): Uint8Array {
    const buffer = this.#buffer
    const length = this.#length
    this.#buffer = new Uint8Array()
    this.#length = 0
    return length === buffer.length ? buffer : new Uint8Array(buffer.buffer.transfer(length))
  }
}
