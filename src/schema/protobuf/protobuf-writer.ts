// ProtobufWriter: writes the protobuf wire format from the end to the beginning. A length precedes the value it counts;
// written backwards it is known when it is written, so no sizes are computed beforehand and nothing is moved. It serves
// the API's kinds (protobuf-encode.ts) and the messages of gRPC services (wire/protobuf).

const utf8 = new TextEncoder()
const bytesInitial = 4_096
/** A larger buffer is released before the next message. */
const bytesKeptMax = 1 << 20
/** ASCII text up to this length is copied character by character; for longer text the encoder is faster. */
const asciiMax = 64

export class ProtobufWriter {
  #bytes = new Uint8Array(bytesInitial)
  /** What is written occupies the buffer from here to its end. */
  #at = bytesInitial

  /** How many bytes have been written. */
  get written(): number {
    return this.#bytes.length - this.#at
  }

  /** Starts a new message and discards what an encoding that failed left behind. */
  begin(): this {
    if (this.#bytes.length > bytesKeptMax) this.#bytes = new Uint8Array(bytesInitial)
    this.#at = this.#bytes.length
    return this
  }

  /** A copy of what was written. */
  take(): Uint8Array<ArrayBuffer> {
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

  /** An unsigned varint of up to 32 bits: keys and lengths. */
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

  /** A varint of an int64; negative ones take ten bytes. */
  integer(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0 && value <= 0xffff_ffff) this.uint32(value)
    else this.bigInteger(BigInt(value))
  }

  /** A varint of 64 bits; negative ones take ten bytes. */
  bigInteger(value: bigint): void {
    let left = BigInt.asUintN(64, value)
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

  /** Text, preceded by its length. */
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
