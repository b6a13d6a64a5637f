// The generated function that writes a message in protobuf: see protobuf-encode.ts.
import { choiceFields } from '../descriptor/choice.ts'
import { js, type Code, type Fragment } from '../descriptor/code.ts'
import type { Field, Message, Type } from '../descriptor/field.ts'
import type { MessageFunctions } from '../descriptor/message-function.ts'
import { propertyRead } from '../descriptor/property.ts'
import type { JsonObject } from '../json/json-value.ts'
import { emptyStruct, entriesOf, isAbsentWhenUnset, lastFirst, mapInside, type Entry } from './entries.ts'
import type { ProtobufWriter } from './protobuf-writer.ts'
import { closeMessage, key, scalarWriters, writeText } from './scalar-writers.ts'

export type Encoder = (writer: ProtobufWriter, object: JsonObject) => void

type Encoders = MessageFunctions<Encoder>

export function generateEncoder(message: Message, code: Code, encoders: Encoders): void {
  for (const entry of entriesOf(message)) writeEntry(code, entry, encoders)
}

function writeEntry(code: Code, entry: Entry, encoders: Encoders): void {
  if (!('embedded' in entry)) return writeField(code, entry.name, entry.field, encoders)
  const before = code.variable()
  code.line(js`const ${before} = writer.written`)
  for (const inner of entry.embedded) writeEntry(code, inner, encoders)
  code.line(js`${code.constant(closeMessage)}(writer, ${key(entry.tag, 2)}, ${before})`)
}

function writeField(code: Code, name: string, field: Field, encoders: Encoders): void {
  const { type, tag } = field
  const value = code.variable()
  code.line(js`const ${value} = ${propertyRead(code, js`object`, name)}`)
  code.line(js`if (${isAbsentWhenUnset(field) ? js`${value} !== undefined && ${value} !== null` : js`true`}) {`)
  if (typeof type === 'string' || type.kind === 'message') writeValue(code, tag, type, value, encoders)
  else if (type.kind === 'list') writeList(code, tag, type.element, value, encoders)
  else writeMap(code, tag, type.value, value, encoders)
  code.line(js`}`)
}

function writeList(code: Code, tag: number, element: Type, value: Fragment, encoders: Encoders): void {
  const index = code.variable()
  const item = code.variable()
  code.line(
    js`for (let ${index} = ${value}.length - 1; ${index} >= 0; ${index}--) { const ${item} = ${value}[${index}]`,
  )
  writeValue(code, tag, element, item, encoders)
  code.line(js`}`)
}

function writeMap(code: Code, tag: number, type: Type, value: Fragment, encoders: Encoders): void {
  const name = code.variable()
  const item = code.variable()
  const before = code.variable()
  code.line(js`for (const ${name} of Object.keys(${value}).sort(${code.constant(lastFirst)})) {`)
  code.line(js`const ${item} = ${value}[${name}], ${before} = writer.written`)
  writeValue(code, 2, type, item, encoders)
  code.line(js`${code.constant(writeText)}(writer, ${key(1, 2)}, ${name})`)
  code.line(js`${code.constant(closeMessage)}(writer, ${key(tag, 2)}, ${before}) }`)
}

function writeValue(code: Code, tag: number, type: Type, value: Fragment, encoders: Encoders): void {
  if (typeof type === 'string') {
    const [write, wireType] = scalarWriters[type]
    return code.line(js`${code.constant(write)}(writer, ${key(tag, wireType)}, ${value})`)
  }
  if (type.kind === 'map') throw mapInside()
  const before = code.variable()
  code.line(js`const ${before} = writer.written`)
  if (type.kind === 'list') writeList(code, 1, type.element, value, encoders)
  else {
    const object = type.isChoice
      ? js`${code.constant(choiceFields)}(${code.constant(type)}, ${value})`
      : js`${value} ?? ${code.constant(emptyStruct)}`
    code.line(js`${code.constant(encoders(type))}.run(writer, ${object})`)
  }
  code.line(js`${code.constant(closeMessage)}(writer, ${key(tag, 2)}, ${before})`)
}
