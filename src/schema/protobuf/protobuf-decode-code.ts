// The generated function that reads a message from protobuf: see protobuf-decode.ts.
import { setOwn } from '../../base/collections/lookup.ts'
import { choiceValue } from '../descriptor/choice.ts'
import { joined, js, type Code, type Fragment } from '../descriptor/code.ts'
import type { Field, ListType, Message, ScalarName, Type } from '../descriptor/field.ts'
import type { MessageFunctions } from '../descriptor/message-function.ts'
import { propertySet } from '../descriptor/property.ts'
import { zeroOf } from '../descriptor/zero.ts'
import type { JsonObject } from '../json/json-value.ts'
import type { ProtobufReader } from './protobuf-reader.ts'
import { mapInside, protobufDepthMax, scalarReaders, skipUnknown, tooDeep, wireTypeOf } from './scalar-readers.ts'

export type MessageReader = (reader: ProtobufReader, end: number, depth: number) => JsonObject

type Readers = MessageFunctions<MessageReader>

interface HeldField {
  readonly field: Field
  /** The variable that holds the value. */
  readonly held: Fragment
}

export function generateReader(message: Message, code: Code, readers: Readers): void {
  const fields = Object.entries(message.fields).map(([name, field]) => ({ name, field, held: code.variable() }))
  code.line(js`if (depth > ${protobufDepthMax}) throw ${code.constant(tooDeep)}()`)
  code.line(js`let ${joined([js`key`, ...fields.map(({ held }) => held)], ', ')}`)
  readFields(code, fields, 0, js`end`, readers)
  code.line(js`const target = {}`)
  for (const { name, held } of fields)
    code.line(js`if (${held} !== undefined) ${propertySet(code, js`target`, name, held)}`)
  code.line(js`return target`)
}

/** Writes the loop over a message, or over one that is embedded in it at this level: a path of numbers leads there. */
function readFields(code: Code, fields: readonly HeldField[], level: number, end: Fragment, readers: Readers): void {
  const here = fields.filter(({ field }) => embeddedPath(field).length === level)
  const deeper = Map.groupBy(
    fields.filter(({ field }) => embeddedPath(field).length > level),
    ({ field }) => embeddedPath(field)[level] ?? 0,
  )
  code.line(js`while (reader.at < ${end}) switch (key = reader.uint32()) {`)
  for (const { field, held } of here) readField(code, field, held, end, readers)
  for (const [tag, inner] of deeper) {
    const innerEnd = code.variable()
    code.line(js`case ${(tag << 3) | 2}: { const ${innerEnd} = reader.messageEnd(${end})`)
    readFields(code, inner, level + 1, innerEnd, readers)
    code.line(js`break }`)
  }
  const known = new Set([...here.map(({ field }) => field.tag), ...deeper.keys()])
  code.line(js`default: ${code.constant(skipUnknown)}(reader, key, ${code.constant(known)}) }`)
  code.line(js`reader.endAt(${end})`)
}

function readField(code: Code, { type, tag }: Field, held: Fragment, end: Fragment, readers: Readers): void {
  if (typeof type === 'object' && type.kind === 'list') return readElements(code, type.element, tag, held, end, readers)
  code.line(js`case ${(tag << 3) | wireTypeOf(type)}: {`)
  if (typeof type === 'object' && type.kind === 'map') readEntry(code, type.value, held, end, readers)
  else code.line(js`${held} = ${valueOf(code, type, end, readers)}`)
  code.line(js`break }`)
}

function readElements(code: Code, element: Type, tag: number, held: Fragment, end: Fragment, readers: Readers): void {
  const wireType = wireTypeOf(element)
  code.line(js`case ${(tag << 3) | wireType}: (${held} ??= []).push(${valueOf(code, element, end, readers)}); break`)
  // Numbers in a list may be packed into one field.
  if (wireType !== 0) return
  const packedEnd = code.variable()
  code.line(js`case ${(tag << 3) | 2}: { const ${packedEnd} = reader.messageEnd(${end}); ${held} ??= []`)
  code.line(js`while (reader.at < ${packedEnd}) ${held}.push(${valueOf(code, element, packedEnd, readers)})`)
  code.line(js`reader.endAt(${packedEnd}); break }`)
}

function readEntry(code: Code, type: Type, held: Fragment, end: Fragment, readers: Readers): void {
  const name = code.variable()
  const item = code.variable()
  const entryEnd = code.variable()
  code.line(js`let ${name} = '', ${item} = ${code.constant(zeroOf)}(${code.constant(type)})`)
  code.line(js`const ${entryEnd} = reader.messageEnd(${end})`)
  code.line(js`while (reader.at < ${entryEnd}) switch (key = reader.uint32()) {`)
  code.line(js`case ${(1 << 3) | 2}: ${name} = reader.text(); break`)
  code.line(js`case ${(2 << 3) | wireTypeOf(type)}: ${item} = ${valueOf(code, type, entryEnd, readers)}; break`)
  code.line(js`default: reader.skip(key) } reader.endAt(${entryEnd})`)
  code.line(js`${code.constant(setOwn)}(${held} ??= {}, ${name}, ${item})`)
}

/** An expression that reads one value. */
function valueOf(code: Code, type: Type, end: Fragment, readers: Readers): Fragment {
  if (typeof type === 'string') return scalarOf(code, type, end)
  if (type.kind === 'map') throw mapInside()
  const message = type.kind === 'list' ? listWrapper(type) : type
  const read = js`${code.constant(readers(message))}.run(reader, reader.messageEnd(${end}), depth + 1)`
  if (type.kind === 'list') return js`(${read}.items ?? [])`
  return type.isChoice ? js`${code.constant(choiceValue)}(${read})` : read
}

/** The most frequent ones without a call in between. */
function scalarOf(code: Code, type: ScalarName, end: Fragment): Fragment {
  if (type === 'string') return js`reader.text()`
  if (type === 'int32') return js`reader.integer()`
  if (type === 'int64') return js`reader.int64()`
  if (type === 'bool') return js`reader.integer() !== 0`
  return js`${code.constant(scalarReaders[type])}(reader, ${end})`
}

const embeddedPath = ({ embeddedAt }: Field): readonly number[] => [embeddedAt ?? []].flat()

/** A list inside a map is wrapped in a message whose first field repeats. */
const listWrapper = (type: ListType): Message => ({
  kind: 'message',
  name: '',
  description: '',
  fields: { items: { tag: 1, type, presence: 'optional' } },
})
