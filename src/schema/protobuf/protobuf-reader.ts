// ProtobufReader: reads the values of the protobuf wire format one after the other. It serves the API's kinds
// (protobuf-decode.ts) and the messages of gRPC services (wire/protobuf).
import { TooManyValuesError } from '../json/too-many-values.ts'

export class ProtobufError extends Error {
  override name = 'ProtobufError'
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
const lossyUtf8 = new TextDecoder()
const singleBytes = new TextDecoder('latin1')
const varintBytesMax = 10

function utf8Text(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (error) {
    throw new ProtobufError('a text is not valid UTF-8', { cause: error })
  }
}

export class ProtobufReader {
  readonly #bytes: Uint8Array
  /** The input as Latin-1: ASCII text is sliced from it, which is cheaper than decoding each text by itself. */
  #characters: string | undefined
  readonly #valuesMax: number
  #values = 0
  at = 0

  constructor(bytes: Uint8Array, valuesMax = Infinity) {
    this.#bytes = bytes
    this.#valuesMax = valuesMax
  }

  get end(): number {
    return this.#bytes.length
  }

  /** An unsigned varint of up to 32 bits: keys and lengths. */
  uint32(): number {
    const first = this.#bytes[this.at] ?? 0x80
    if (first < 0x80) {
      this.at++
      return first
    }
    const value = this.integer()
    if (value < 0 || value > 0xffff_ffff) throw new ProtobufError('a key or a length is too large')
    return value
  }

  /** A signed varint of 64 bits. A value that a double cannot hold exactly is rejected. */
  integer(): number {
    const value = this.int64()
    if (typeof value === 'bigint') throw beyondSafeInteger()
    return value
  }

  /** A signed varint of 64 bits: a bigint if a double cannot hold it exactly. */
  int64(): number | bigint {
    let low = 0
    let high = 0
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#bytes[this.at++]
      if (byte === undefined) break
      if (shift < 28) low |= (byte & 0x7f) << shift
      else high += (byte & 0x7f) * 2 ** (shift - 28)
      if (byte < 0x80) return wholeNumber(low, high)
    }
    throw new ProtobufError('a number is truncated or longer than ten bytes')
  }

  /** An unsigned varint of 64 bits. A value beyond 2^53 is rejected. */
  unsigned(): number {
    const value = this.integer()
    if (value < 0) throw beyondSafeInteger()
    return value
  }

  /** An unsigned varint of 64 bits, whatever its value. */
  bigUnsigned(): bigint {
    let result = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#advance(1)] ?? 0
      result |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, result)
    }
    throw new ProtobufError('a number is truncated or longer than ten bytes')
  }

  double(): number {
    const start = this.#advance(8)
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + start, 8).getFloat64(0, true)
  }

  /** Reads the length of a message; returns its end. */
  messageEnd(within: number): number {
    this.#count()
    const end = this.uint32() + this.at
    if (end > within) throw truncated()
    return end
  }

  /** Checks that the last value of a message ended where the message ends. */
  endAt(end: number): void {
    if (this.at !== end) throw new ProtobufError('a value is longer than the message that contains it')
  }

  /** A view of the input. */
  bytes(): Uint8Array {
    const size = this.uint32()
    const start = this.#advance(size)
    return this.#bytes.subarray(start, start + size)
  }

  /** Text of the API's objects: invalid UTF-8 is rejected. It may share memory with the whole input. */
  text(): string {
    this.#count()
    const size = this.uint32()
    const start = this.#advance(size)
    const { at } = this
    for (let index = start; index < at; index++)
      if ((this.#bytes[index] ?? 0) > 0x7f) return utf8Text(this.#bytes.subarray(start, at))
    this.#characters ??= singleBytes.decode(this.#bytes)
    return this.#characters.slice(start, at)
  }

  /** Text of gRPC messages, whose input may be large: the result holds no other memory. Invalid UTF-8 is replaced. */
  lossyText(): string {
    return lossyUtf8.decode(this.bytes())
  }

  /** Skips the value of an unknown field. */
  skip(key: number): void {
    switch (key & 7) {
      case 0:
        return this.#skipVarint()
      case 1:
        return void this.#advance(8)
      case 2:
        return void this.#advance(this.uint32())
      case 5:
        return void this.#advance(4)
      default:
        throw new ProtobufError(`there is no wire type ${key & 7}`)
    }
  }

  #skipVarint(): void {
    for (let count = 0; count < varintBytesMax; count++) if ((this.#bytes[this.#advance(1)] ?? 0) < 0x80) return
    throw new ProtobufError('a number is truncated or longer than ten bytes')
  }

  #count(): void {
    if (++this.#values > this.#valuesMax) throw new TooManyValuesError(this.#valuesMax)
  }

  /** Returns the position before it. */
  #advance(count: number): number {
    const start = this.at
    this.at += count
    if (this.at > this.#bytes.length) throw truncated()
    return start
  }
}

const truncated = () => new ProtobufError('the message is truncated')
const beyondSafeInteger = () => new ProtobufError('an integer is beyond 2^53')

/** From the low 28 bits and the rest. With the 64th bit set the number is negative. */
function wholeNumber(low: number, high: number): number | bigint {
  const value = high * 2 ** 28 + low
  if (Number.isSafeInteger(value)) return value
  const exact = BigInt.asIntN(64, (BigInt(high) << 28n) | BigInt(low))
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
}
