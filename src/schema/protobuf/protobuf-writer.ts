// ProtobufWriter: bytes written from the end to the beginning. A length stands before what it counts, and written
// backwards it is known when its turn comes: no sizes are worked out beforehand and nothing is copied.

const utf8 = new TextEncoder()
const bytesInitial = 4_096
/** A buffer that one large object needed is not kept for the small ones after it. */
const bytesKeptMax = 1 << 20
/** Text up to this length is written by hand when it is ASCII; the encoder is faster for what is longer. */
const asciiMax = 64

export class ProtobufWriter {
  #bytes = new Uint8Array(bytesInitial)
  /** Where the next byte ends; what is written stands from here to the end. */
  #at = bytesInitial

  /** How much has been written: the difference of two is a length. */
  get written(): number {
    return this.#bytes.length - this.#at
  }

  /** Begins anew: what an encoding that failed left behind is gone. */
  begin(): this {
    if (this.#bytes.length > bytesKeptMax) this.#bytes = new Uint8Array(bytesInitial)
    this.#at = this.#bytes.length
    return this
  }

  /** A copy of all that was written. */
  take(): Uint8Array {
    return this.#bytes.slice(this.#at)
  }

  #reserve(count: number): void {
    if (this.#at >= count) return
    const { written } = this
    const bytes = new Uint8Array(Math.max(this.#bytes.length * 2, written + count))
    bytes.set(this.#bytes.subarray(this.#at), bytes.length - written)
    this.#at = bytes.length - written
    this.#bytes = bytes
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[--this.#at] = value
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#at -= bytes.length
    this.#bytes.set(bytes, this.#at)
  }

  /** A number of up to 32 bits without a sign: keys and lengths. */
  uint32(value: number): void {
    if (value < 0x80) return this.byte(value)
    const size = value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : value < 0x1000_0000 ? 4 : 5
    this.#reserve(size)
    this.#at -= size
    let left = value
    for (let index = this.#at; index < this.#at + size; index++) {
      this.#bytes[index] = (left & 0x7f) | 0x80
      left >>>= 7
    }
    const last = this.#at + size - 1
    this.#bytes[last] = (this.#bytes[last] ?? 0) & 0x7f
  }

  /** A whole number that a double holds exactly; negative ones take ten bytes. */
  integer(value: number): void {
    if (value >= 0 && value <= 0xffff_ffff) return this.uint32(value)
    let left = BigInt.asUintN(64, BigInt(value))
    const bytes: number[] = []
    for (; left >= 0x80n; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80)
    bytes.push(Number(left))
    this.raw(Uint8Array.from(bytes))
  }

  double(value: number): void {
    this.#reserve(8)
    this.#at -= 8
    new DataView(this.#bytes.buffer).setFloat64(this.#at, value, true)
  }

  /** A text behind its length. */
  text(value: string): void {
    const { length } = value
    if (length > asciiMax || !this.#ascii(value)) {
      const bytes = utf8.encode(value)
      this.raw(bytes)
      return this.uint32(bytes.length)
    }
    this.uint32(length)
  }

  #ascii(value: string): boolean {
    const { length } = value
    this.#reserve(length)
    const bytes = this.#bytes
    const start = this.#at - length
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index)
      if (code > 0x7f) return false
      bytes[start + index] = code
    }
    this.#at = start
    return true
  }
}
