// encodeProto: a message as proto3 bytes. Each message type is compiled once to a list of field writers. The writer works
// from the end to the beginning, so fields, elements and entries are written in reverse.
// safe names: fields have the names of their message, and maps have no prototype.
import { ProtobufWriter } from '../../schema/protobuf/protobuf-writer.ts'
import { latin1Bytes } from '../../platform/http1/latin1.ts'
import type { ElementType, Field, Message, ProtoInput, Scalar } from './proto-message.ts'

/** Shared: encoding is synchronous. */
const sharedWriter = new ProtobufWriter()

export function encodeProto<M extends Message>(message: M, value: ProtoInput<M>): Uint8Array<ArrayBuffer> {
  writeMessage(sharedWriter.begin(), message, value)
  return sharedWriter.take()
}

type WriteField = (writer: ProtobufWriter, value: unknown) => void

/** The field writers of each message type, the last field first. */
const compiled = new WeakMap<Message, readonly (readonly [name: string, write: WriteField])[]>()

function compile(message: Message) {
  const fields = Object.entries(message.fields)
    .map(([name, field]) => [name, compileField(field)] as const)
    .toReversed()
  compiled.set(message, fields)
  return fields
}

function writeMessage(writer: ProtobufWriter, message: Message, value: object): void {
  for (const [name, write] of compiled.get(message) ?? compile(message)) {
    const fieldValue = (value as Readonly<Record<string, unknown>>)[name]
    if (fieldValue !== undefined) write(writer, fieldValue)
  }
}

function compileField({ tag, type, label }: Field): WriteField {
  const write = compileValue(tag, type)
  switch (label) {
    case 'plain':
      return (writer, value) => {
        if (!isZero(type, value)) write(writer, value)
      }
    case 'optional':
      return write
    case 'repeated':
      // Numbers are not packed: every reader accepts that, and no service has long lists of them.
      return (writer, values) => {
        for (const value of (values as readonly unknown[]).toReversed()) write(writer, value)
      }
    case 'map': {
      const writeKey = compileValue(1, 'string')
      const writeEntryValue = compileValue(2, type)
      return (writer, entries) => {
        for (const [key, value] of Object.entries(entries as object).toReversed()) {
          const before = writer.written
          writeEntryValue(writer, value)
          writeKey(writer, key)
          closeMessage(writer, tag, before)
        }
      }
    }
    default:
      return label satisfies never
  }
}

/** Makes what was written since `before` the value of a field. */
function closeMessage(writer: ProtobufWriter, tag: number, before: number): void {
  writer.uint32(writer.written - before)
  writer.uint32((tag << 3) | 2)
}

function isZero(type: ElementType, value: unknown): boolean {
  if (typeof type === 'object') return type.kind === 'enumeration' && value === type.names[0]
  return type === 'bytes' ? (value as Uint8Array).length === 0 : !value
}

function compileValue(tag: number, type: ElementType): WriteField {
  if (typeof type === 'string') return compileScalar(tag, type)
  if (type.kind === 'message')
    return (writer, value) => {
      const before = writer.written
      writeMessage(writer, type, value as object)
      closeMessage(writer, tag, before)
    }
  const numbers = new Map(type.names.map((name, number) => [name, number]))
  return (writer, value) => {
    writer.uint32(numbers.get(value as string) ?? 0)
    writer.uint32(tag << 3)
  }
}

function compileScalar(tag: number, type: Scalar): WriteField {
  const [wireType, write] = scalarWriter(type)
  const key = (tag << 3) | wireType
  return (writer, value) => {
    write(writer, value as never)
    writer.uint32(key)
  }
}

function scalarWriter(type: Scalar): [wireType: 0 | 1 | 2, write: (writer: ProtobufWriter, value: never) => void] {
  switch (type) {
    case 'string':
      return [2, (writer, value: string) => writer.text(value)]
    case 'bytes':
      return [
        2,
        (writer, value: Uint8Array) => {
          writer.raw(value)
          writer.uint32(value.length)
        },
      ]
    case 'binary':
      return [
        2,
        (writer, value: string) => {
          writer.raw(latin1Bytes(value))
          writer.uint32(value.length)
        },
      ]
    case 'bool':
      return [0, (writer, value: boolean) => writer.uint32(value ? 1 : 0)]
    case 'double':
      return [1, (writer, value: number) => writer.double(value)]
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'uint64':
      return [0, (writer, value: number) => writer.integer(value)]
    case 'int64Big':
    case 'uint64Big':
      return [0, (writer, value: bigint) => writer.bigInteger(value)]
    default:
      return type satisfies never
  }
}
