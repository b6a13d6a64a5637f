// The function that writes a message in protobuf, composed of closures: see protobuf-encode.ts.
import { choiceFields } from '../descriptor/choice.ts'
import type { Field, Message, ScalarName, Type } from '../descriptor/field.ts'
import type { MessageFunctions } from '../descriptor/message-function.ts'
import { propertyOf, readProperty } from '../descriptor/property.ts'
import type { JsonObject } from '../json/json-value.ts'
import { emptyStruct, entriesOf, isAbsentWhenUnset, lastFirst, mapInside, type Entry } from './entries.ts'
import type { ProtobufWriter } from './protobuf-writer.ts'
import { closeMessage, key, scalarWriters, writeText } from './scalar-writers.ts'

export type Encoder = (writer: ProtobufWriter, object: JsonObject) => void

/** Writes a value and the key of its field. */
type ValueWriter = (writer: ProtobufWriter, value: unknown) => void

type Encoders = MessageFunctions<Encoder>

export const composeEncoder = (message: Message, encoders: Encoders): Encoder =>
  inTurn(entriesOf(message).map((entry) => entryEncoder(entry, encoders)))

const inTurn =
  (steps: readonly Encoder[]): Encoder =>
  (writer, object) => {
    for (const write of steps) write(writer, object)
  }

function entryEncoder(entry: Entry, encoders: Encoders): Encoder {
  if (!('embedded' in entry)) return fieldEncoder(entry.name, entry.field, encoders)
  const write = inTurn(entry.embedded.map((inner) => entryEncoder(inner, encoders)))
  const fieldKey = key(entry.tag, 2)
  return (writer, object) => {
    const before = writer.written
    write(writer, object)
    closeMessage(writer, fieldKey, before)
  }
}

function fieldEncoder(name: string, field: Field, encoders: Encoders): Encoder {
  const property = propertyOf(name)
  const write = fieldWriter(field, encoders)
  const isSkipped = isAbsentWhenUnset(field)
  return (writer, object) => {
    const value = readProperty(object, property)
    if (!isSkipped || (value !== undefined && value !== null)) write(writer, value)
  }
}

function fieldWriter({ type, tag }: Field, encoders: Encoders): ValueWriter {
  if (typeof type === 'string' || type.kind === 'message') return valueWriter(tag, type, encoders)
  return type.kind === 'list' ? listWriter(tag, type.element, encoders) : mapWriter(tag, type.value, encoders)
}

function listWriter(tag: number, element: Type, encoders: Encoders): ValueWriter {
  const write = valueWriter(tag, element, encoders)
  return (writer, value) => {
    for (const item of (value as readonly unknown[]).toReversed()) write(writer, item)
  }
}

function mapWriter(tag: number, type: Type, encoders: Encoders): ValueWriter {
  const write = valueWriter(2, type, encoders)
  const [nameKey, entryKey] = [key(1, 2), key(tag, 2)]
  return (writer, value) => {
    for (const [name, item] of Object.entries(value as JsonObject).toSorted(([a], [b]) => lastFirst(a, b))) {
      const before = writer.written
      write(writer, item)
      writeText(writer, nameKey, name)
      closeMessage(writer, entryKey, before)
    }
  }
}

function valueWriter(tag: number, type: Type, encoders: Encoders): ValueWriter {
  if (typeof type === 'string') {
    const [write, wireType] = scalarWriters[type]
    const fieldKey = key(tag, wireType)
    return (writer, value) => write(writer, fieldKey, value as never)
  }
  const write = contentWriter(type, encoders)
  const fieldKey = key(tag, 2)
  return (writer, value) => {
    const before = writer.written
    write(writer, value)
    closeMessage(writer, fieldKey, before)
  }
}

/** Writes the content of a value that is a message of its own on the wire. */
function contentWriter(type: Exclude<Type, ScalarName>, encoders: Encoders): ValueWriter {
  if (type.kind === 'map') throw mapInside()
  if (type.kind === 'list') return listWriter(1, type.element, encoders)
  const encoder = encoders(type)
  return type.isChoice
    ? (writer, value) => encoder.run(writer, choiceFields(type, value))
    : (writer, value) => encoder.run(writer, value ?? emptyStruct)
}
