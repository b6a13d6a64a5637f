// ProtobufReader: the values of the wire form, one after the other.

import { TooManyValuesError } from '../json/too-many-values.ts'

export class ProtobufError extends Error {
  override name = 'ProtobufError'
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
const singleBytes = new TextDecoder('latin1')

function utf8Text(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (error) {
    throw new ProtobufError('a text is not valid UTF-8', { cause: error })
  }
}

export class ProtobufReader {
  readonly #bytes: Uint8Array
  /** Every byte as a character: text that is ASCII is cut out of it, which is cheaper than decoding each by itself. */
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

  /** A varint without a sign, of up to 32 bits: keys and lengths. */
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

  /** A varint of 64 bits. What a double cannot hold exactly is refused rather than changed. */
  integer(): number {
    let [low, high] = [0, 0]
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#bytes[this.at++]
      if (byte === undefined) break
      if (shift < 28) low |= (byte & 0x7f) << shift
      else high += (byte & 0x7f) * 2 ** (shift - 28)
      if (byte < 0x80) return wholeNumber(low, high)
    }
    throw new ProtobufError('a number is cut off or too long')
  }

  double(): number {
    const start = this.#advance(8)
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + start, 8).getFloat64(0, true)
  }

  /** Where a message ends that begins here. */
  messageEnd(within: number): number {
    this.#count()
    const end = this.uint32() + this.at
    if (end > within) throw new ProtobufError('the body is cut off')
    return end
  }

  /** A message ends where its length says, not within one of its values. */
  endAt(end: number): void {
    if (this.at !== end) throw new ProtobufError('a value is longer than what it stands in')
  }

  bytes(): Uint8Array {
    const size = this.uint32()
    const start = this.#advance(size)
    return this.#bytes.subarray(start, start + size)
  }

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

  /** Passes over the value of a field that is not known. */
  skip(key: number): void {
    switch (key & 7) {
      case 0:
        while ((this.#bytes[this.#advance(1)] ?? 0) >= 0x80);
        return
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

  #count(): void {
    if (++this.#values > this.#valuesMax) throw new TooManyValuesError(this.#valuesMax)
  }

  /** Moves on; returns where it stood. */
  #advance(count: number): number {
    const start = this.at
    this.at += count
    if (this.at > this.#bytes.length) throw new ProtobufError('the body is cut off')
    return start
  }
}

/** The low 28 bits and the rest; with the 64th set the number is negative. */
function wholeNumber(low: number, high: number): number {
  if (high < 2 ** 35) {
    const value = high * 2 ** 28 + low
    if (Number.isSafeInteger(value)) return value
  } else {
    const value = Number(BigInt.asIntN(64, (BigInt(high) << 28n) | BigInt(low)))
    if (Number.isSafeInteger(value)) return value
  }
  throw new ProtobufError('an integer is beyond 2^53')
}
