// Messages of D-Bus. They are written in little-endian byte order and read in both. The supported body types are those
// that system services need: numbers, strings, booleans, and variants of them. Other bodies are not decoded.

export type DbusValue = string | number | bigint | boolean

export const dbusKinds = ['call', 'answer', 'error', 'signal'] as const
export type DbusKind = (typeof dbusKinds)[number]

export interface DbusMessage {
  readonly kind: DbusKind
  readonly serial: number
  readonly path?: string
  readonly interface?: string
  readonly member?: string
  readonly errorName?: string
  readonly replyTo?: number
  readonly destination?: string
  readonly sender?: string
  /** The types of the body, one letter each. */
  readonly signature?: string
  /** Empty when the signature contains an unsupported type. */
  readonly body: readonly DbusValue[]
}

const endianByte = 0x6c
const protocolVersion = 1
const fixedBytes = 16
/** The limit of the specification. */
const messageBytesMax = 128 << 20

const fields = {
  path: [1, 'o'],
  interface: [2, 's'],
  member: [3, 's'],
  errorName: [4, 's'],
  replyTo: [5, 'u'],
  destination: [6, 's'],
  sender: [7, 's'],
  signature: [8, 'g'],
} as const
type FieldName = keyof typeof fields
const fieldNames = Object.keys(fields) as FieldName[]

const aligned = (offset: number, to: number): number => Math.ceil(offset / to) * to

class Writer {
  #bytes = new Uint8Array(256)
  #view = new DataView(this.#bytes.buffer)
  #length = 0

  get length(): number {
    return this.#length
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  pad(to: number): void {
    this.#grow(aligned(this.#length, to) - this.#length)
  }

  number(size: 1 | 4 | 8, value: number | bigint): void {
    this.pad(size)
    const at = this.#length
    this.#grow(size)
    if (size === 1) this.#view.setUint8(at, Number(value))
    else if (size === 4) this.#view.setInt32(at, Number(value), true)
    else this.#view.setBigInt64(at, BigInt(value), true)
  }

  text(text: string, lengthSize: 1 | 4): void {
    const encoded = new TextEncoder().encode(text)
    this.number(lengthSize, encoded.length)
    const at = this.#length
    this.#grow(encoded.length + 1)
    this.#bytes.set(encoded, at)
  }

  setLength(at: number, value: number): void {
    this.#view.setUint32(at, value, true)
  }

  append(bytes: Uint8Array): void {
    const at = this.#length
    this.#grow(bytes.length)
    this.#bytes.set(bytes, at)
  }

  #grow(by: number): void {
    if (this.#length + by > this.#bytes.length) {
      const larger = new Uint8Array((this.#length + by) * 2)
      larger.set(this.#bytes)
      this.#bytes = larger
      this.#view = new DataView(larger.buffer)
    }
    this.#length += by
  }
}

function write(writer: Writer, type: string, value: DbusValue): void {
  switch (type) {
    case 'y':
      return writer.number(1, Number(value))
    case 'b':
      return writer.number(4, value === true ? 1 : 0)
    case 'i':
    case 'u':
      return writer.number(4, Number(value))
    case 'x':
    case 't':
      return writer.number(8, BigInt(value))
    case 's':
    case 'o':
      return writer.text(String(value), 4)
    case 'g':
      return writer.text(String(value), 1)
    case 'v': {
      const inner = typeof value === 'string' ? 's' : typeof value === 'boolean' ? 'b' : 't'
      writer.text(inner, 1)
      return write(writer, inner, value)
    }
    default:
      throw new Error(`values of the D-Bus type ${type} cannot be written`)
  }
}

export function encodeMessage(message: DbusMessage): Uint8Array<ArrayBuffer> {
  const { kind, serial, signature = '', body } = message
  const content = new Writer()
  for (const [index, value] of body.entries()) write(content, signature[index] ?? '', value)
  const head = new Writer()
  for (const byte of [endianByte, dbusKinds.indexOf(kind) + 1, 0, protocolVersion]) head.number(1, byte)
  head.number(4, content.length)
  head.number(4, serial)
  head.number(4, 0)
  const begin = head.length
  for (const name of fieldNames) {
    const value = message[name]
    if (value === undefined || value === '') continue
    const [code, type] = fields[name]
    head.pad(8)
    head.number(1, code)
    head.text(type, 1)
    write(head, type, value)
  }
  head.setLength(fixedBytes - 4, head.length - begin)
  head.pad(8)
  head.append(content.bytes)
  return head.bytes.slice()
}

class Reader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #isLittle: boolean
  offset: number

  constructor(bytes: Uint8Array, offset: number) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#isLittle = bytes[0] === endianByte
    this.offset = offset
  }

  pad(to: number): void {
    this.offset = aligned(this.offset, to)
  }

  #take(size: number, alignment: number): number {
    this.pad(alignment)
    const at = this.offset
    this.offset += size
    return at
  }

  byte(): number {
    return this.#view.getUint8(this.#take(1, 1))
  }

  uint32(): number {
    return this.#view.getUint32(this.#take(4, 4), this.#isLittle)
  }

  int32(): number {
    return this.#view.getInt32(this.#take(4, 4), this.#isLittle)
  }

  uint64(): bigint {
    return this.#view.getBigUint64(this.#take(8, 8), this.#isLittle)
  }

  text(length: number): string {
    const at = this.#take(length + 1, 1)
    return new TextDecoder().decode(this.#bytes.subarray(at, at + length))
  }
}

const readable = /^[ybiuxtsogv]*$/

function read(reader: Reader, type: string): DbusValue {
  switch (type) {
    case 'y':
      return reader.byte()
    case 'b':
      return reader.uint32() === 1
    case 'i':
      return reader.int32()
    case 'u':
      return reader.uint32()
    case 'x':
      return BigInt.asIntN(64, reader.uint64())
    case 't':
      return reader.uint64()
    case 's':
    case 'o':
      return reader.text(reader.uint32())
    case 'g':
      return reader.text(reader.byte())
    case 'v':
      return read(reader, reader.text(reader.byte()))
    default:
      throw new Error(`values of the D-Bus type ${type} cannot be read`)
  }
}

/** The size of the message at the start of the bytes; undefined while it cannot be known. */
export function messageBytes(bytes: Uint8Array): number | undefined {
  if (bytes.length < fixedBytes) return undefined
  const reader = new Reader(bytes, 4)
  const bodyBytes = reader.uint32()
  reader.uint32()
  const whole = aligned(fixedBytes + reader.uint32(), 8) + bodyBytes
  if (whole > messageBytesMax) throw new Error(`a D-Bus message of ${whole} bytes is too large`)
  return whole
}

/** `bytes` is one complete message. */
export function decodeMessage(bytes: Uint8Array): DbusMessage {
  const reader = new Reader(bytes, 1)
  const kind = dbusKinds[reader.byte() - 1]
  if (kind === undefined) throw new Error('unknown type of D-Bus message')
  reader.offset = 8
  const serial = reader.uint32()
  const headBytes = reader.uint32()
  const found: Partial<Record<FieldName, DbusValue>> = {}
  const end = fixedBytes + headBytes
  while (reader.offset < end) {
    reader.pad(8)
    const code = reader.byte()
    const value = read(reader, reader.text(reader.byte()))
    const name = fieldNames.find((one) => fields[one][0] === code)
    if (name !== undefined) found[name] = value
  }
  reader.offset = aligned(end, 8)
  const signature = String(found.signature ?? '')
  const body = readable.test(signature) ? signature.split('').map((type) => read(reader, type)) : []
  return { ...(found as Partial<DbusMessage>), kind, serial, body }
}
