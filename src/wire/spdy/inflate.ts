// Inflate: RFC 1950 and 1951, for a stream that the sender flushes after every message. Small messages: it is written to
// be read, a bit at a time.
import { adler32 } from './spdy-dictionary.ts'

export class InflateError extends Error {
  override name = 'InflateError'
}

const windowBytes = 32_768
const withDictionary = 0x20

export class Inflate {
  readonly #dictionary: Uint8Array
  readonly #messageBytesMax: number
  /** What was said last: matches point into it. */
  #history: Uint8Array
  #isBegun = false

  constructor(dictionary: Uint8Array, messageBytesMax: number) {
    this.#dictionary = dictionary
    this.#history = dictionary
    this.#messageBytesMax = messageBytesMax
  }

  /** The next message; `bytes` ends where its sender flushed. */
  message(bytes: Uint8Array): Uint8Array {
    const bits = new Bits(bytes)
    if (!this.#isBegun) this.#begin(bits)
    const output = new Output(this.#history, this.#messageBytesMax)
    for (let isLast = false; !isLast && !bits.isAtEnd;) {
      isLast = bits.take(1) === 1
      inflateBlock(bits, output)
    }
    const message = output.written
    this.#history = output.last(windowBytes)
    return message
  }

  #begin(bits: Bits): void {
    const [method, flags] = [bits.take(8), bits.take(8)]
    if ((method & 0x0f) !== 8 || (method * 256 + flags) % 31 !== 0) throw new InflateError('not a zlib stream')
    if ((flags & withDictionary) === 0) this.#history = new Uint8Array()
    else if (bits.takeBigEndian32() !== adler32(this.#dictionary)) throw new InflateError('another dictionary')
    this.#isBegun = true
  }
}

function inflateBlock(bits: Bits, output: Output): void {
  switch (bits.take(2)) {
    case 0:
      return inflateStored(bits, output)
    case 1:
      return inflateCodes(bits, output, fixedLengths, fixedDistances)
    case 2: {
      const [lengths, distances] = readCodes(bits)
      return inflateCodes(bits, output, lengths, distances)
    }
    default:
      throw new InflateError('unknown kind of block')
  }
}

function inflateStored(bits: Bits, output: Output): void {
  bits.alignToByte()
  const length = bits.take(16)
  if (bits.take(16) !== (~length & 0xffff)) throw new InflateError('the length of a stored block is damaged')
  for (let i = 0; i < length; i++) output.put(bits.take(8))
}

const endOfBlock = 256
const lengthBases = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
]
const lengthBits = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0]
const distanceBases = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
  8193, 12_289, 16_385, 24_577,
]
const distanceBits = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13]

function inflateCodes(bits: Bits, output: Output, lengths: HuffmanCode, distances: HuffmanCode): void {
  for (;;) {
    const symbol = lengths.next(bits)
    if (symbol === endOfBlock) return
    if (symbol < endOfBlock) output.put(symbol)
    else {
      const length = extended(bits, symbol - endOfBlock - 1, lengthBases, lengthBits)
      output.repeat(extended(bits, distances.next(bits), distanceBases, distanceBits), length)
    }
  }
}

function extended(bits: Bits, index: number, bases: readonly number[], extra: readonly number[]): number {
  const base = bases[index]
  if (base === undefined) throw new InflateError('unknown symbol')
  return base + bits.take(extra[index] ?? 0)
}

/** The order in which lengths of the codes for lengths are sent: those that are often unused come last. */
const lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

function readCodes(bits: Bits): readonly [HuffmanCode, HuffmanCode] {
  const [lengthCount, distanceCount, orderCount] = [bits.take(5) + 257, bits.take(5) + 1, bits.take(4) + 4]
  const codeLengths = Array.from({ length: lengthOrder.length }, () => 0)
  for (const index of lengthOrder.slice(0, orderCount)) codeLengths[index] = bits.take(3)
  const code = new HuffmanCode(codeLengths)
  const all: number[] = []
  const repeat = (length: number, times: number) => {
    for (let i = 0; i < times; i++) all.push(length)
  }
  while (all.length < lengthCount + distanceCount) {
    const symbol = code.next(bits)
    if (symbol < 16) all.push(symbol)
    else if (symbol === 16) repeat(all.at(-1) ?? 0, 3 + bits.take(2))
    else repeat(0, symbol === 17 ? 3 + bits.take(3) : 11 + bits.take(7))
  }
  return [
    new HuffmanCode(all.slice(0, lengthCount)),
    new HuffmanCode(all.slice(lengthCount, lengthCount + distanceCount)),
  ]
}

const codeBitsMax = 15

/** A canonical code: the lengths of its words say all. */
class HuffmanCode {
  /** How many words there are of each length. */
  readonly #counts: readonly number[]
  /** Symbols by length of their words, then by value. */
  readonly #symbols: readonly number[]

  constructor(lengths: readonly number[]) {
    const counts = Array.from({ length: codeBitsMax + 1 }, () => 0)
    for (const length of lengths) if (length > 0) counts[length] = (counts[length] ?? 0) + 1
    this.#counts = counts
    this.#symbols = [...lengths.keys()]
      .filter((symbol) => lengths[symbol] !== 0)
      .toSorted((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0) || a - b)
  }

  next(bits: Bits): number {
    let word = 0
    let first = 0 // the first word of this length
    let index = 0 // and its symbol's place
    for (let length = 1; length <= codeBitsMax; length++) {
      word = word * 2 + bits.take(1)
      const count = this.#counts[length] ?? 0
      if (word - first < count) return this.#symbols[index + word - first] ?? 0
      index += count
      first = (first + count) * 2
    }
    throw new InflateError('no such word in the code')
  }
}

const fixedLengths = new HuffmanCode(
  Array.from({ length: 288 }, (_, symbol) => (symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8)),
)
const fixedDistances = new HuffmanCode(Array.from({ length: 30 }, () => 5))

/** Bits from the lowest of each byte on. */
class Bits {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length * 8
  }

  take(count: number): number {
    let value = 0
    for (let i = 0; i < count; i++, this.#at++) {
      const byte = this.#bytes[this.#at >> 3]
      if (byte === undefined) throw new InflateError('the stream ends within a block')
      value |= ((byte >> (this.#at & 7)) & 1) << i
    }
    return value
  }

  takeBigEndian32(): number {
    let value = 0
    for (let i = 0; i < 4; i++) value = value * 256 + this.take(8)
    return value
  }

  alignToByte(): void {
    this.#at = (this.#at + 7) & ~7
  }
}

/** What is being written, behind what was written before. */
class Output {
  readonly #start: number
  readonly #bytesMax: number
  #bytes: Uint8Array
  #length: number

  constructor(history: Uint8Array, bytesMax: number) {
    this.#start = history.length
    this.#bytesMax = bytesMax
    this.#length = history.length
    this.#bytes = new Uint8Array(history.length + 1024)
    this.#bytes.set(history)
  }

  get written(): Uint8Array {
    return this.#bytes.slice(this.#start, this.#length)
  }

  last(count: number): Uint8Array {
    return this.#bytes.slice(Math.max(0, this.#length - count), this.#length)
  }

  put(byte: number): void {
    if (this.#length - this.#start >= this.#bytesMax) throw new InflateError(`more than ${this.#bytesMax} bytes`)
    if (this.#length === this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2)
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    this.#bytes[this.#length++] = byte
  }

  repeat(distance: number, count: number): void {
    if (distance > this.#length) throw new InflateError('a match points before the beginning')
    for (let i = 0; i < count; i++) this.put(this.#bytes[this.#length - distance] ?? 0)
  }
}
