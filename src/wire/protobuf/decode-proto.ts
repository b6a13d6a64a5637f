// decode: proto3 bytes as a value with every field there. Unknown fields are skipped, as protobuf asks. Fields of type
// bytes are views of the input: whoever keeps one keeps the input's memory.
// safe names: fields have the names of their message, and maps have no prototype.
import { ProtobufError, type ElementType, type Field, type Message, type Proto, type Scalar } from './proto-message.ts'

const depthMax = 100

export function decodeProto<M extends Message>(message: M, bytes: Uint8Array): Proto<M> {
  return readMessage(new Reader(bytes), message, bytes.length, 0) as Proto<M>
}

type Target = Record<string, unknown>
type ReadField = (reader: Reader, target: Target, wireType: number, depth: number) => void

interface Compiled {
  readonly byTag: readonly (ReadField | undefined)[]
  /** A new value with every field at zero. */
  readonly make: () => Target
}

const compiled = new WeakMap<Message, Compiled>()

function compile(message: Message): Compiled {
  const byTag: ReadField[] = []
  const zeros: [string, () => unknown][] = []
  for (const [name, field] of Object.entries(message.fields)) {
    byTag[field.tag] = compileField(name, field)
    zeros.push([name, zeroOf(field)])
  }
  const make = () => {
    const target: Target = {}
    for (const [name, zero] of zeros) target[name] = zero()
    return target
  }
  const made = { byTag, make }
  compiled.set(message, made)
  return made
}

const zeroMessage = (message: Message): Target => (compiled.get(message) ?? compile(message)).make()

function zeroOf({ type, label }: Field): () => unknown {
  if (label === 'repeated') return () => []
  if (label === 'map') return () => Object.create(null) as object
  if (label === 'optional') return () => undefined
  const zero = plainZero(type)
  return () => zero
}

const noBytes = new Uint8Array()

function plainZero(type: ElementType): unknown {
  if (typeof type === 'object') return type.kind === 'enumeration' ? type.names[0] : undefined
  switch (type) {
    case 'string':
      return ''
    case 'bytes':
      return noBytes
    case 'bool':
      return false
    case 'int64Big':
    case 'uint64Big':
      return 0n
    default:
      return 0
  }
}

function readMessage(reader: Reader, message: Message, end: number, depth: number): Target {
  if (depth > depthMax) throw new ProtobufError(`${message.name}: nested more than ${depthMax} levels deep`)
  const { byTag, make } = compiled.get(message) ?? compile(message)
  const target = make()
  while (reader.at < end) {
    const head = reader.varint()
    const read = byTag[Math.floor(head / 8)]
    if (read === undefined) reader.skip(head % 8)
    else read(reader, target, head % 8, depth)
  }
  if (reader.at !== end) throw new ProtobufError(`${message.name}: a field goes beyond its message`)
  return target
}

function compileField(name: string, { type, label }: Field): ReadField {
  const read = compileValue(type)
  switch (label) {
    case 'plain':
    case 'optional':
      return (reader, target, wireType, depth) => {
        target[name] = read(reader, wireType, depth)
      }
    case 'repeated':
      return (reader, target, wireType, depth) => {
        const items = target[name] as unknown[]
        if (wireType !== 2 || !isPackable(type)) return void items.push(read(reader, wireType, depth))
        const end = reader.lengthEnd()
        while (reader.at < end) items.push(read(reader, type === 'double' ? 1 : 0, depth))
      }
    case 'map':
      return (reader, target, wireType, depth) => {
        const [key, value] = readEntry(reader, type, read, wireType, depth)
        ;(target[name] as Target)[key] = value
      }
    default:
      return label satisfies never
  }
}

const isPackable = (type: ElementType): boolean =>
  typeof type === 'string' ? type !== 'string' && type !== 'bytes' : type.kind === 'enumeration'

function readEntry(
  reader: Reader,
  type: ElementType,
  read: ReadValue,
  wireType: number,
  depth: number,
): [key: string, value: unknown] {
  expect(wireType, 2)
  const end = reader.lengthEnd()
  let key = ''
  let value = typeof type === 'object' && type.kind === 'message' ? zeroMessage(type) : plainZero(type)
  while (reader.at < end) {
    const head = reader.varint()
    if (head >>> 3 === 1) key = reader.text()
    else if (head >>> 3 === 2) value = read(reader, head % 8, depth)
    else reader.skip(head % 8)
  }
  return [key, value]
}

type ReadValue = (reader: Reader, wireType: number, depth: number) => unknown

function compileValue(type: ElementType): ReadValue {
  if (typeof type === 'string') {
    const [wanted, read] = compileScalar(type)
    return (reader, wireType) => {
      expect(wireType, wanted)
      return read(reader)
    }
  }
  if (type.kind === 'message')
    return (reader, wireType, depth) => {
      expect(wireType, 2)
      return readMessage(reader, type, reader.lengthEnd(), depth + 1)
    }
  return (reader, wireType) => {
    expect(wireType, 0)
    return type.names[reader.varint()] ?? type.names[0]
  }
}

function compileScalar(type: Scalar): [wireType: number, read: (reader: Reader) => unknown] {
  switch (type) {
    case 'string':
      return [2, (reader) => reader.text()]
    case 'bytes':
      return [2, (reader) => reader.bytes()]
    case 'bool':
      return [0, (reader) => reader.varint() !== 0]
    case 'double':
      return [1, (reader) => reader.double()]
    case 'int32':
    case 'int64':
      return [0, (reader) => reader.signed()]
    case 'uint32':
    case 'uint64':
      return [0, (reader) => reader.varint()]
    case 'int64Big':
      return [0, (reader) => BigInt.asIntN(64, reader.big())]
    case 'uint64Big':
      return [0, (reader) => reader.big()]
    default:
      return type satisfies never
  }
}

function expect(wireType: number, wanted: number): void {
  if (wireType !== wanted) throw new ProtobufError(`wire type ${wireType} stands where ${wanted} belongs`)
}

const utf8 = new TextDecoder()

class Reader {
  readonly #bytes: Uint8Array
  at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** A number up to 2^53. */
  varint(): number {
    const start = this.at
    let [result, scale] = [0, 1]
    for (let count = 0; count < 8; count++) {
      const byte = this.#byte()
      result += (byte & 0x7f) * scale
      if (byte < 0x80) {
        if (result > Number.MAX_SAFE_INTEGER) break
        return result
      }
      scale *= 0x80
    }
    this.at = start
    const value = this.big()
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new ProtobufError(`the number ${value} is larger than 2^53`)
    return Number(value)
  }

  signed(): number {
    const start = this.at
    // Negative numbers take ten bytes; all others are read the quick way.
    let length = 1
    while ((this.#bytes[start + length - 1] ?? 0) >= 0x80) length++
    if (length < 10) return this.varint()
    const value = Number(BigInt.asIntN(64, this.big()))
    if (!Number.isSafeInteger(value)) throw new ProtobufError(`the number ${value} is smaller than -2^53`)
    return value
  }

  big(): bigint {
    let result = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte()
      result |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, result)
    }
    throw new ProtobufError('a number is longer than ten bytes')
  }

  double(): number {
    const start = this.at
    this.#advance(8)
    const { buffer, byteOffset } = this.#bytes
    return new DataView(buffer, byteOffset + start, 8).getFloat64(0, true)
  }

  bytes(): Uint8Array {
    const length = this.varint()
    const start = this.at
    this.#advance(length)
    return this.#bytes.subarray(start, this.at)
  }

  text(): string {
    return utf8.decode(this.bytes())
  }

  /** Where that ends whose length stands here. */
  lengthEnd(): number {
    const length = this.varint()
    const end = this.at + length
    if (end > this.#bytes.length) throw new ProtobufError('the message is cut off')
    return end
  }

  skip(wireType: number): void {
    switch (wireType) {
      case 0:
        return void this.big()
      case 1:
        return this.#advance(8)
      case 2:
        return this.#advance(this.varint())
      case 5:
        return this.#advance(4)
      default:
        throw new ProtobufError(`there is no wire type ${wireType}`)
    }
  }

  #byte(): number {
    const byte = this.#bytes[this.at++]
    if (byte === undefined) throw new ProtobufError('the message is cut off')
    return byte
  }

  #advance(count: number): void {
    if (this.at + count > this.#bytes.length) throw new ProtobufError('the message is cut off')
    this.at += count
  }
}
