// decodeProto: proto3 bytes as a value in which every field is set. Unknown fields are skipped, as protobuf requires.
// Fields of type bytes are views of the input and keep its memory alive.
// safe names: fields have the names of their message, and maps have no prototype.
import { ProtobufError, ProtobufReader } from '../../schema/protobuf/protobuf-reader.ts'
import { latin1Text } from '../../platform/http1/latin1.ts'
import type { ElementType, Field, Message, Proto, Scalar } from './proto-message.ts'

const depthMax = 100

export function decodeProto<M extends Message>(message: M, bytes: Uint8Array): Proto<M> {
  return readMessage(new ProtobufReader(bytes), message, bytes.length, 0) as Proto<M>
}

type Target = Record<string, unknown>
/** `end` and `depth` are those of the message that contains the field. */
type ReadField = (reader: ProtobufReader, target: Target, wireType: number, end: number, depth: number) => void
type ReadValue = (reader: ProtobufReader, wireType: number, end: number, depth: number) => unknown

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
    case 'binary':
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

function readMessage(reader: ProtobufReader, message: Message, end: number, depth: number): Target {
  if (depth > depthMax) throw new ProtobufError(`${message.name}: nested more than ${depthMax} levels deep`)
  const { byTag, make } = compiled.get(message) ?? compile(message)
  const target = make()
  while (reader.at < end) {
    const key = reader.uint32()
    const read = byTag[key >>> 3]
    if (read === undefined) reader.skip(key)
    else read(reader, target, key & 7, end, depth)
  }
  reader.endAt(end)
  return target
}

function compileField(name: string, { type, label }: Field): ReadField {
  const read = compileValue(type)
  switch (label) {
    case 'plain':
    case 'optional':
      return (reader, target, wireType, end, depth) => {
        target[name] = read(reader, wireType, end, depth)
      }
    case 'repeated':
      return (reader, target, wireType, end, depth) => {
        const items = target[name] as unknown[]
        if (wireType !== 2 || !isPackable(type)) return void items.push(read(reader, wireType, end, depth))
        const packedEnd = reader.messageEnd(end)
        while (reader.at < packedEnd) items.push(read(reader, type === 'double' ? 1 : 0, packedEnd, depth))
        reader.endAt(packedEnd)
      }
    case 'map':
      return (reader, target, wireType, end, depth) => {
        expectWireType(wireType, 2)
        const [key, value] = readEntry(reader, type, read, reader.messageEnd(end), depth)
        ;(target[name] as Target)[key] = value
      }
    default:
      return label satisfies never
  }
}

const isPackable = (type: ElementType): boolean =>
  typeof type === 'string' ? type !== 'string' && type !== 'bytes' && type !== 'binary' : type.kind === 'enumeration'

function readEntry(
  reader: ProtobufReader,
  type: ElementType,
  read: ReadValue,
  end: number,
  depth: number,
): [key: string, value: unknown] {
  let entryKey = ''
  let value = typeof type === 'object' && type.kind === 'message' ? zeroMessage(type) : plainZero(type)
  while (reader.at < end) {
    const key = reader.uint32()
    if (key >>> 3 === 1) {
      expectWireType(key & 7, 2)
      entryKey = reader.lossyText()
    } else if (key >>> 3 === 2) value = read(reader, key & 7, end, depth)
    else reader.skip(key)
  }
  reader.endAt(end)
  return [entryKey, value]
}

function compileValue(type: ElementType): ReadValue {
  if (typeof type === 'string') {
    const [expected, read] = compileScalar(type)
    return (reader, wireType) => {
      expectWireType(wireType, expected)
      return read(reader)
    }
  }
  if (type.kind === 'message')
    return (reader, wireType, end, depth) => {
      expectWireType(wireType, 2)
      return readMessage(reader, type, reader.messageEnd(end), depth + 1)
    }
  return (reader, wireType) => {
    expectWireType(wireType, 0)
    return type.names[reader.integer()] ?? type.names[0]
  }
}

function compileScalar(type: Scalar): [wireType: number, read: (reader: ProtobufReader) => unknown] {
  switch (type) {
    case 'string':
      return [2, (reader) => reader.lossyText()]
    case 'bytes':
      return [2, (reader) => reader.bytes()]
    case 'binary':
      return [2, (reader) => wholeLatin1(reader.bytes())]
    case 'bool':
      return [0, (reader) => reader.integer() !== 0]
    case 'double':
      return [1, (reader) => reader.double()]
    case 'int32':
    case 'int64':
      return [0, (reader) => reader.integer()]
    case 'uint32':
    case 'uint64':
      return [0, (reader) => reader.unsigned()]
    case 'int64Big':
      return [0, (reader) => BigInt.asIntN(64, reader.bigUnsigned())]
    case 'uint64Big':
      return [0, (reader) => reader.bigUnsigned()]
    default:
      return type satisfies never
  }
}

const wholeLatin1 = (bytes: Uint8Array): string => latin1Text(bytes, 0, bytes.length)

function expectWireType(wireType: number, expected: number): void {
  if (wireType !== expected) throw new ProtobufError(`wire type ${wireType} instead of ${expected}`)
}
