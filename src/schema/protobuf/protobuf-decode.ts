// protobuf: from the wire form that Go clients send to the JSON value that decode() takes. Field numbers stand on the
// descriptors; fields that are not known are skipped, as protobuf asks.
import { setOwn } from '../../base/collections/lookup.ts'
import { durationText } from '../scalar/duration.ts'
import { choiceValue } from '../descriptor/choice.ts'
import { derivation, quoted, type Code } from '../descriptor/compile.ts'
import type { Field, Message, ScalarName, Type } from '../descriptor/field.ts'
import { nestsTooDeep } from '../json/json-depth.ts'
import type { JsonObject, JsonValue } from '../json/json-value.ts'
import { ProtobufError, ProtobufReader } from './protobuf-reader.ts'
import { zeroOf } from '../descriptor/zero.ts'

export { ProtobufError } from './protobuf-reader.ts'

/** The four bytes before every Kubernetes object in protobuf. */
const magic = [0x6b, 0x38, 0x73, 0x00]
const depthMax = 100

export interface Envelope {
  readonly apiVersion: string
  readonly kind: string
  readonly raw: Uint8Array
}

/** Opens runtime.Unknown: which kind it is, and its bytes. */
export function decodeEnvelope(bytes: Uint8Array): Envelope {
  if (!magic.every((byte, index) => bytes[index] === byte))
    throw new ProtobufError('the body does not begin with the protobuf prefix "k8s\\x00"')
  const reader = new ProtobufReader(bytes.subarray(magic.length))
  let [apiVersion, kind, raw] = ['', '', new Uint8Array()]
  while (reader.at < reader.end) {
    const key = reader.uint32()
    if (key === 0x0a)
      for (const end = reader.messageEnd(reader.end); reader.at < end;) {
        const inner = reader.uint32()
        if (inner === 0x0a) apiVersion = reader.text()
        else if (inner === 0x12) kind = reader.text()
        else reader.skip(inner)
      }
    else if (key === 0x12) raw = new Uint8Array(reader.bytes())
    else reader.skip(key)
  }
  return { apiVersion, kind, raw }
}

/** Throws TooManyValues beyond so many messages and strings: an empty one takes two bytes here and fifty times that as an object. */
export function decodeProtobuf(message: Message, bytes: Uint8Array, valuesMax = Infinity): JsonObject {
  const reader = new ProtobufReader(bytes, valuesMax)
  return readerOf(message).run(reader, reader.end, 0)
}

type MessageReader = (reader: ProtobufReader, end: number, depth: number) => JsonObject

const readerOf = derivation<MessageReader>(['reader', 'end', 'depth'], (message, code) => {
  const fields = Object.entries(message.fields).map(([name, field]) => ({ name, field, held: code.variable() }))
  code.line(`if (depth > ${depthMax}) throw ${code.constant(tooDeep)}()`)
  code.line(`let ${['key', ...fields.map(({ held }) => held)].join(', ')}`)
  readFields(code, fields, 0, 'end')
  code.line('const target = {}')
  for (const { name, held } of fields) code.line(`if (${held} !== undefined) target[${quoted(name)}] = ${held}`)
  code.line('return target')
})

interface HeldField {
  readonly name: string
  readonly field: Field
  readonly held: string
}

/** Writes the loop over a message, or over one that is embedded in it at this level: a path of numbers leads there. */
function readFields(code: Code, fields: readonly HeldField[], level: number, end: string): void {
  const here = fields.filter(({ field }) => pathOf(field).length === level)
  const deeper = Map.groupBy(
    fields.filter(({ field }) => pathOf(field).length > level),
    ({ field }) => pathOf(field)[level] ?? 0,
  )
  code.line(`while (reader.at < ${end}) switch (key = reader.uint32()) {`)
  for (const { field, held } of here) readField(code, field, held, end)
  for (const [tag, inner] of deeper) {
    const innerEnd = code.variable()
    code.line(`case ${(tag << 3) | 2}: { const ${innerEnd} = reader.messageEnd(${end})`)
    readFields(code, inner, level + 1, innerEnd)
    code.line('break }')
  }
  const known = new Set([...here.map(({ field }) => field.tag), ...deeper.keys()])
  code.line(`default: ${code.constant(skipUnknown)}(reader, key, ${code.constant(known)}) }`)
  code.line(`reader.endAt(${end})`)
}

const pathOf = ({ embeddedAt: inside }: Field): readonly number[] => [inside ?? []].flat()

function readField(code: Code, { type, tag }: Field, held: string, end: string): void {
  if (typeof type === 'object' && type.kind === 'list') return readElements(code, type.element, tag, held, end)
  code.line(`case ${(tag << 3) | wireTypeOf(type)}: {`)
  if (typeof type === 'object' && type.kind === 'map') readEntry(code, type.value, held, end)
  else code.line(`${held} = ${valueOf(code, type, end)}`)
  code.line('break }')
}

function readElements(code: Code, element: Type, tag: number, held: string, end: string): void {
  code.line(`case ${(tag << 3) | wireTypeOf(element)}: (${held} ??= []).push(${valueOf(code, element, end)}); break`)
  // Numbers in a list may be packed into one field.
  if (wireTypeOf(element) !== 0) return
  const packedEnd = code.variable()
  code.line(`case ${(tag << 3) | 2}: { const ${packedEnd} = reader.messageEnd(${end}); ${held} ??= []`)
  code.line(`while (reader.at < ${packedEnd}) ${held}.push(${valueOf(code, element, packedEnd)})`)
  code.line(`reader.endAt(${packedEnd}); break }`)
}

function readEntry(code: Code, type: Type, held: string, end: string): void {
  const [name, item, entryEnd] = [code.variable(), code.variable(), code.variable()]
  code.line(
    `let ${name} = '', ${item} = ${JSON.stringify(zeroOf(type))}; const ${entryEnd} = reader.messageEnd(${end})`,
  )
  code.line(`while (reader.at < ${entryEnd}) switch (key = reader.uint32()) {`)
  code.line(`case ${(1 << 3) | 2}: ${name} = reader.text(); break`)
  code.line(`case ${(2 << 3) | wireTypeOf(type)}: ${item} = ${valueOf(code, type, entryEnd)}; break`)
  code.line(`default: reader.skip(key) } reader.endAt(${entryEnd})`)
  code.line(`${code.constant(setOwn)}(${held} ??= {}, ${name}, ${item})`)
}

function wireTypeOf(type: Type): 0 | 1 | 2 {
  if (type === 'double') return 1
  return type === 'bool' || type === 'int32' || type === 'int64' ? 0 : 2
}

/** An expression that reads one value. */
function valueOf(code: Code, type: Type, end: string): string {
  if (typeof type === 'string') return scalarOf(code, type, end)
  if (type.kind === 'message') {
    const read = `${code.constant(readerOf(type))}.run(reader, reader.messageEnd(${end}), depth + 1)`
    return type.isChoice ? `${code.constant(choiceValue)}(${read})` : read
  }
  if (type.kind === 'list') {
    // A list inside a map is wrapped in a message whose first field repeats.
    const wrapper: Message = {
      kind: 'message',
      name: '',
      description: '',
      fields: { items: { tag: 1, type, presence: 'optional' } },
    }
    return `(${code.constant(readerOf(wrapper))}.run(reader, reader.messageEnd(${end}), depth + 1).items ?? [])`
  }
  throw new ProtobufError('a map cannot stand directly in a list or a map')
}

function scalarOf(code: Code, type: ScalarName, end: string): string {
  const inMessage = (read: (deps: WrapperFields) => JsonValue | undefined) =>
    `${code.constant(read)}(${code.constant(wrapperFieldsOf)}(reader, reader.messageEnd(${end})))`
  switch (type) {
    case 'string':
      return 'reader.text()'
    case 'bytes':
      return 'reader.bytes().toBase64()'
    case 'bool':
      return 'reader.integer() !== 0'
    case 'int32':
    case 'int64':
      return 'reader.integer()'
    case 'double':
      return 'reader.double()'
    case 'quantity':
      return inMessage(firstText)
    case 'duration':
      return inMessage(durationOf)
    case 'intOrString':
      return inMessage(intOrStringOf)
    case 'time':
      return inMessage(timeText)
    case 'microTime':
      return inMessage(microTimeText)
    case 'fieldsV1':
    case 'rawExtension':
    case 'json':
      return inMessage(jsonOf)
    default:
      return type satisfies never
  }
}

/** The fields of a small message that stands for one value. */
interface WrapperFields {
  readonly isEmpty: boolean
  /** By field number. */
  readonly numbers: readonly number[]
  readonly texts: readonly string[]
}

function wrapperFieldsOf(reader: ProtobufReader, end: number): WrapperFields {
  const isEmpty = reader.at === end
  const [numbers, texts] = [
    [0, 0, 0, 0],
    ['', '', '', ''],
  ]
  while (reader.at < end) {
    const key = reader.uint32()
    const number = key >>> 3
    if (number > 3) reader.skip(key)
    else if ((key & 7) === 0) numbers[number] = reader.integer()
    else if ((key & 7) === 2) texts[number] = reader.text()
    else reader.skip(key)
  }
  reader.endAt(end)
  return { isEmpty, numbers, texts }
}

const firstText = ({ texts }: WrapperFields): string => texts[1] ?? ''

const durationOf = ({ numbers }: WrapperFields): string => durationText(numbers[1] ?? 0)

const intOrStringOf = ({ numbers, texts }: WrapperFields): number | string =>
  (numbers[1] === 0 ? numbers[2] : texts[3]) ?? 0

/** A time that was never set is an empty message. */
const timeText = ({ isEmpty, numbers: [, seconds = 0] }: WrapperFields): string | undefined =>
  isEmpty ? undefined : `${secondsText(seconds)}Z`

const microTimeText = ({ isEmpty, numbers: [, seconds = 0, nanos = 0] }: WrapperFields): string | undefined =>
  isEmpty ? undefined : `${secondsText(seconds)}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z`

/** Beyond what a Date holds there is no time. */
const secondsMax = 8_640_000_000_000

function secondsText(seconds: number): string {
  if (Math.abs(seconds) > secondsMax) throw new ProtobufError('a time is out of range')
  return new Date(seconds * 1000).toISOString().slice(0, 19)
}

function jsonOf({ texts: [, text = ''] }: WrapperFields): JsonValue {
  if (nestsTooDeep(new TextEncoder().encode(text))) throw new ProtobufError('exceeded max depth')
  return JSON.parse(text) as JsonValue
}

function skipUnknown(reader: ProtobufReader, key: number, known: ReadonlySet<number>): void {
  reader.skip(key)
  if (known.has(key >>> 3))
    throw new ProtobufError(
      (key & 7) === 2 ? 'bytes stand where a number belongs' : 'a number stands where bytes belong',
    )
}

const tooDeep = () => new ProtobufError(`nested more than ${depthMax} levels deep`)
