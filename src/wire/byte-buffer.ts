// ByteBuffer: bytes that are collected from pieces until they are complete. Its capacity doubles, so that many small
// pieces cost linear time; bytes that arrive in one piece are allocated once.

export class ByteBuffer {
  #buffer = new Uint8Array()
  #length = 0

  get length(): number {
    return this.#length
  }

  /** A view, valid until the next append. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }

  /** Copies the piece; returns a view of the copy. */
  append(piece: Uint8Array): Uint8Array {
    const [start, end] = [this.#length, this.#length + piece.length]
    if (end > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(end, this.#buffer.length * 2))
      larger.set(this.bytes)
      this.#buffer = larger
    }
    this.#buffer.set(piece, start)
    this.#length = end
    return this.#buffer.subarray(start, end)
  }

  /** Returns the bytes and starts empty again. */
  take(): Uint8Array {
    const { bytes } = this
    this.#buffer = new Uint8Array()
    this.#length = 0
    return bytes
  }
}
