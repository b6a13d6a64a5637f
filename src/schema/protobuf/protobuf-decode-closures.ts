// The function that reads a message from protobuf, composed of closures: see protobuf-decode.ts.
import { setOwn } from '../../base/collections/lookup.ts'
import { choiceValue } from '../descriptor/choice.ts'
import type { Field, ListType, Message, Type } from '../descriptor/field.ts'
import type { MessageFunctions } from '../descriptor/message-function.ts'
import { propertyOf, setProperty } from '../descriptor/property.ts'
import { zeroOf } from '../descriptor/zero.ts'
import type { JsonObject, JsonValue } from '../json/json-value.ts'
import type { ProtobufReader } from './protobuf-reader.ts'
import { mapInside, protobufDepthMax, scalarReaders, skipUnknown, tooDeep, wireTypeOf } from './scalar-readers.ts'

export type MessageReader = (reader: ProtobufReader, end: number, depth: number) => JsonObject

/** Reads a field after its key, into the field's place in `held`. `end` is where the message ends. */
type FieldReader = (reader: ProtobufReader, end: number, depth: number, held: (JsonValue | undefined)[]) => void

/** Reads one value. `end` is where the message that contains it ends. */
type ValueReader = (reader: ProtobufReader, end: number, depth: number) => JsonValue | undefined

type Readers = MessageFunctions<MessageReader>

export function composeReader(message: Message, readers: Readers): MessageReader {
  const fields = Object.entries(message.fields).map(([name, field], index) => ({ ...propertyOf(name), field, index }))
  const readFields = fieldsReader(fields, 0, readers)
  return (reader, end, depth) => {
    if (depth > protobufDepthMax) throw tooDeep()
    const held: (JsonValue | undefined)[] = []
    readFields(reader, end, depth, held)
    const target: Record<string, unknown> = {}
    for (const field of fields) {
      const value = held[field.index]
      if (value !== undefined) setProperty(target, field, value)
    }
    return target as JsonObject
  }
}

interface IndexedField {
  readonly field: Field
  readonly index: number
}

/** Reads a message, or one that is embedded in it at this level: a path of numbers leads there. */
function fieldsReader(fields: readonly IndexedField[], level: number, readers: Readers): FieldReader {
  const here = fields.filter(({ field }) => embeddedPath(field).length === level)
  const deeper = Map.groupBy(
    fields.filter(({ field }) => embeddedPath(field).length > level),
    ({ field }) => embeddedPath(field)[level] ?? 0,
  )
  const byKey = new Map(here.flatMap(({ field, index }) => fieldReaders(field, index, readers)))
  for (const [tag, inner] of deeper) {
    const readInner = fieldsReader(inner, level + 1, readers)
    byKey.set((tag << 3) | 2, (reader, end, depth, held) => readInner(reader, reader.messageEnd(end), depth, held))
  }
  const known = new Set([...here.map(({ field }) => field.tag), ...deeper.keys()])
  return (reader, end, depth, held) => {
    while (reader.at < end) {
      const key = reader.uint32()
      const read = byKey.get(key)
      if (read === undefined) skipUnknown(reader, key, known)
      else read(reader, end, depth, held)
    }
    reader.endAt(end)
  }
}

export const embeddedPath = ({ embeddedAt }: Field): readonly number[] => [embeddedAt ?? []].flat()

/** How a field is read, by each key that it may have. */
function fieldReaders({ type, tag }: Field, index: number, readers: Readers): [key: number, read: FieldReader][] {
  if (typeof type === 'object' && type.kind === 'list') return elementReaders(type.element, tag, index, readers)
  if (typeof type === 'object' && type.kind === 'map')
    return [[(tag << 3) | 2, entryReader(type.value, index, readers)]]
  const read = valueReader(type, readers)
  const readField: FieldReader = (reader, end, depth, held) => void (held[index] = read(reader, end, depth))
  return [[(tag << 3) | wireTypeOf(type), readField]]
}

function elementReaders(
  element: Type,
  tag: number,
  index: number,
  readers: Readers,
): [key: number, read: FieldReader][] {
  const read = valueReader(element, readers)
  const listIn = (held: (JsonValue | undefined)[]) => (held[index] ??= []) as JsonValue[]
  const readOne: FieldReader = (reader, end, depth, held) =>
    void listIn(held).push(read(reader, end, depth) as JsonValue)
  const wireType = wireTypeOf(element)
  if (wireType !== 0) return [[(tag << 3) | wireType, readOne]]
  // Numbers in a list may be packed into one field.
  const readPacked: FieldReader = (reader, end, depth, held) => {
    const packedEnd = reader.messageEnd(end)
    const list = listIn(held)
    while (reader.at < packedEnd) list.push(read(reader, packedEnd, depth) as JsonValue)
    reader.endAt(packedEnd)
  }
  return [
    [tag << 3, readOne],
    [(tag << 3) | 2, readPacked],
  ]
}

function entryReader(type: Type, index: number, readers: Readers): FieldReader {
  const read = valueReader(type, readers)
  const [nameKey, valueKey] = [(1 << 3) | 2, (2 << 3) | wireTypeOf(type)]
  return (reader, end, depth, held) => {
    let name = ''
    let value = zeroOf(type) as JsonValue | undefined
    const entryEnd = reader.messageEnd(end)
    while (reader.at < entryEnd) {
      const key = reader.uint32()
      if (key === nameKey) name = reader.text()
      else if (key === valueKey) value = read(reader, entryEnd, depth)
      else reader.skip(key)
    }
    reader.endAt(entryEnd)
    setOwn((held[index] ??= {}) as Record<string, unknown>, name, value)
  }
}

function valueReader(type: Type, readers: Readers): ValueReader {
  if (typeof type === 'string') return scalarReaders[type]
  if (type.kind === 'map') throw mapInside()
  if (type.kind === 'list') {
    const wrapper = readers(listWrapper(type))
    return (reader, end, depth) => wrapper.run(reader, reader.messageEnd(end), depth + 1)['items'] ?? []
  }
  const message = readers(type)
  const read: MessageReader = (reader, end, depth) => message.run(reader, reader.messageEnd(end), depth + 1)
  return type.isChoice ? (reader, end, depth) => choiceValue(read(reader, end, depth)) : read
}

/** A list inside a map is wrapped in a message whose first field repeats. */
export const listWrapper = (type: ListType): Message => ({
  kind: 'message',
  name: '',
  description: '',
  fields: { items: { tag: 1, type, presence: 'optional' } },
})
