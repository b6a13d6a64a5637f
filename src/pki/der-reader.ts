// DerReader: reads the elements of a DER encoding one after the other, and accepts no other encoding of the same value:
// lengths are definite and minimal, tags have one byte, and nothing follows the last element.

export interface DerElement {
  readonly tag: number
  readonly content: Uint8Array
  /** Tag and length included. */
  readonly encoded: Uint8Array
}

/** The bytes are not DER, or not of the expected type. */
export class DerError extends Error {
  override name = 'DerError'
}

/** Tags as they stand in the first byte: class, whether constructed, and number. */
export const derTag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  enumerated: 0x0a,
  utf8String: 0x0c,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  universalString: 0x1c,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const

const longTag = 0x1f
const longLength = 0x80
/** Four bytes of length are more than any certificate has. */
const lengthBytesMax = 4

export class DerReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  /** The tag of the next element. */
  get nextTag(): number | undefined {
    return this.#bytes[this.#at]
  }

  /** The next element, whatever its type. */
  any(): DerElement {
    const bytes = this.#bytes
    const start = this.#at
    const tag = this.#byte()
    if ((tag & longTag) === longTag) throw new DerError('a tag is longer than a byte')
    const end = this.#length() + this.#at
    if (end > bytes.length) throw new DerError('an element is cut off')
    const content = bytes.subarray(this.#at, end)
    this.#at = end
    return { tag, content, encoded: bytes.subarray(start, end) }
  }

  element(tag: number, what: string): DerElement {
    if (this.isAtEnd) throw new DerError(`${what} is missing`)
    const found = this.any()
    if (found.tag !== tag) throw new DerError(`${what} has the tag 0x${found.tag.toString(16)}`)
    return found
  }

  /** The next element when it has the tag. */
  optional(tag: number): DerElement | undefined {
    return this.nextTag === tag ? this.any() : undefined
  }

  /** A reader of the elements inside of the next one. */
  inside(tag: number, what: string): DerReader {
    return new DerReader(this.element(tag, what).content)
  }

  /** Every element that is left, each as `read` returns it. */
  rest<Item>(read: (reader: DerReader) => Item): Item[] {
    const items: Item[] = []
    while (!this.isAtEnd) items.push(read(this))
    return items
  }

  end(what: string): void {
    if (!this.isAtEnd) throw new DerError(`${what} has more elements than expected`)
  }

  #byte(): number {
    const byte = this.#bytes[this.#at]
    if (byte === undefined) throw new DerError('an element is cut off')
    this.#at++
    return byte
  }

  #length(): number {
    const first = this.#byte()
    if (first < longLength) return first
    const count = first - longLength
    if (count === 0) throw new DerError('a length is indefinite')
    if (count > lengthBytesMax) throw new DerError('a length is too long')
    let length = 0
    for (let index = 0; index < count; index++) length = length * 256 + this.#byte()
    if (length < longLength || length < 256 ** (count - 1)) throw new DerError('a length is not minimal')
    return length
  }
}
