// protobuf-encode: objects as the bytes that Go clients read. Fields come in the order of their numbers; a value that
// Go holds without a pointer is written even when it is zero, as upstream's encoder does; maps are sorted by key.
// All is written from the end to the beginning (see the writer), so the code of a message runs through it in reverse.
import { durationNanos } from '../scalar/duration.ts'
import { choiceFields } from '../descriptor/choice.ts'
import { derivation, quoted, type Code } from '../descriptor/compile.ts'
import type { Field, Message, ScalarName, Type } from '../descriptor/field.ts'
import type { JsonObject } from '../json/json-value.ts'
import { ProtobufWriter } from './protobuf-writer.ts'

const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00)
/** One for all: nothing waits while it encodes. */
const shared = new ProtobufWriter()

/** The four bytes and runtime.Unknown around an object. */
export function encodeEnvelope(apiVersion: string, kind: string, raw: Uint8Array): Uint8Array {
  const writer = shared.begin()
  writeText(writer, key(4, 2), '')
  writeText(writer, key(3, 2), '')
  writeBytes(writer, key(2, 2), raw)
  const before = writer.written
  writeText(writer, key(2, 2), kind)
  writeText(writer, key(1, 2), apiVersion)
  closeMessage(writer, key(1, 2), before)
  writer.raw(magic)
  return writer.take()
}

/** One event of a watch: its type, and the object in its own envelope. */
export function encodeWatchFrame(type: string, envelope: Uint8Array): Uint8Array {
  const writer = shared.begin()
  writeBytes(writer, key(1, 2), envelope)
  closeMessage(writer, key(2, 2), 0)
  writeText(writer, key(1, 2), type)
  const { written } = writer
  for (const shift of [0, 8, 16, 24]) writer.byte((written >>> shift) & 0xff)
  return writer.take()
}

/** A list: its metadata, then each item. */
export function encodeList(metadata: Message, listMeta: object, items: readonly Uint8Array[]): Uint8Array {
  const writer = shared.begin()
  for (const item of items.toReversed()) writeBytes(writer, key(2, 2), item)
  const before = writer.written
  encoderOf(metadata).run(writer, listMeta as JsonObject)
  closeMessage(writer, key(1, 2), before)
  return writer.take()
}

export function encodeProtobuf(message: Message, object: object): Uint8Array {
  encoderOf(message).run(shared.begin(), object as JsonObject)
  return shared.take()
}

type Encoder = (writer: ProtobufWriter, object: JsonObject) => void

const encoderOf = derivation<Encoder>(['writer', 'object'], (message, code) => {
  for (const entry of entriesOf(message)) writeEntry(code, entry)
})

/** A field, or the embedded message that several fields stand in. */
type Entry =
  | { readonly tag: number; readonly name: string; readonly field: Field }
  | { readonly tag: number; readonly embedded: Entry[] }

/** The last field first. */
function entriesOf(message: Message): readonly Entry[] {
  const root: Entry[] = []
  for (const [name, field] of Object.entries(message.fields))
    [field.embeddedAt ?? []].flat().reduce(embeddedIn, root).push({ tag: field.tag, name, field })
  return reversed(root)
}

function embeddedIn(entries: Entry[], tag: number): Entry[] {
  const known = entries.find((entry) => entry.tag === tag && 'embedded' in entry)
  if (known !== undefined && 'embedded' in known) return known.embedded
  const embedded: Entry[] = []
  entries.push({ tag, embedded })
  return embedded
}

const reversed = (entries: readonly Entry[]): readonly Entry[] =>
  entries
    .map((entry) => ('embedded' in entry ? { ...entry, embedded: [...reversed(entry.embedded)] } : entry))
    .toSorted((a, b) => b.tag - a.tag)

function writeEntry(code: Code, entry: Entry): void {
  if (!('embedded' in entry)) return writeField(code, entry.name, entry.field)
  const before = code.variable()
  code.line(`const ${before} = writer.written`)
  for (const part of entry.embedded) writeEntry(code, part)
  code.line(`${code.constant(closeMessage)}(writer, ${key(entry.tag, 2)}, ${before})`)
}

function writeField(code: Code, name: string, { type, tag, pointer }: Field): void {
  const value = code.variable()
  code.line(`const ${value} = object[${quoted(name)}]`)
  if (typeof type === 'string' || type.kind === 'message') {
    if (isAbsentWhenUnset(type, pointer)) code.line(`if (${value} !== undefined && ${value} !== null) {`)
    else code.line('{')
    writeValue(code, tag, type, value)
    code.line('}')
    return
  }
  code.line(`if (${value} !== undefined && ${value} !== null) {`)
  if (type.kind === 'list') writeList(code, tag, type.element, value)
  else writeMap(code, tag, type.value, value)
  code.line('}')
}

function writeList(code: Code, tag: number, element: Type, value: string): void {
  const [index, item] = [code.variable(), code.variable()]
  code.line(`for (let ${index} = ${value}.length - 1; ${index} >= 0; ${index}--) { const ${item} = ${value}[${index}]`)
  writeValue(code, tag, element, item)
  code.line('}')
}

function writeMap(code: Code, tag: number, type: Type, value: string): void {
  const [name, item, before] = [code.variable(), code.variable(), code.variable()]
  code.line(`for (const ${name} of Object.keys(${value}).sort(${code.constant(lastFirst)})) {`)
  code.line(`const ${item} = ${value}[${name}], ${before} = writer.written`)
  writeValue(code, 2, type, item)
  code.line(`${code.constant(writeText)}(writer, ${key(1, 2)}, ${name})`)
  code.line(`${code.constant(closeMessage)}(writer, ${key(tag, 2)}, ${before}) }`)
}

const lastFirst = (a: string, b: string): number => (a < b ? 1 : -1)

// Pointers, bytes and raw JSON can be nil in Go; everything else has a zero value that is written.
const isAbsentWhenUnset = (type: Type, pointer: true | undefined): boolean =>
  pointer === true || type === 'bytes' || type === 'fieldsV1' || type === 'rawExtension' || type === 'json'

function writeValue(code: Code, tag: number, type: Type, value: string): void {
  if (typeof type === 'string') {
    const [write, wireType] = scalarWriters[type]
    return void code.line(`${code.constant(write)}(writer, ${key(tag, wireType)}, ${value})`)
  }
  if (type.kind === 'map') throw new Error('a map cannot stand directly in a list or a map')
  const before = code.variable()
  code.line(`const ${before} = writer.written`)
  if (type.kind === 'list') writeList(code, 1, type.element, value)
  else if (type.isChoice)
    code.line(
      `${code.constant(encoderOf(type))}.run(writer, ${code.constant(choiceFields)}(${code.constant(type)}, ${value}))`,
    )
  else code.line(`${code.constant(encoderOf(type))}.run(writer, ${value} ?? ${code.constant(nothing)})`)
  code.line(`${code.constant(closeMessage)}(writer, ${key(tag, 2)}, ${before})`)
}

const nothing = Object.freeze({})

/** The number of a field and how its value is written, as one number before it. */
const key = (tag: number, wireType: 0 | 1 | 2): number => (tag << 3) | wireType

/** What was written since `before` is a message of this key. */
function closeMessage(writer: ProtobufWriter, fieldKey: number, before: number): void {
  writer.uint32(writer.written - before)
  writer.uint32(fieldKey)
}

function writeBytes(writer: ProtobufWriter, fieldKey: number, value: Uint8Array): void {
  writer.raw(value)
  writer.uint32(value.length)
  writer.uint32(fieldKey)
}

function writeText(writer: ProtobufWriter, fieldKey: number, value = ''): void {
  writer.text(value)
  writer.uint32(fieldKey)
}

function writeInteger(writer: ProtobufWriter, fieldKey: number, value = 0): void {
  writer.integer(value)
  writer.uint32(fieldKey)
}

function writeTime(writer: ProtobufWriter, fieldKey: number, text: string | null | undefined): void {
  const before = writer.written
  if (text) {
    const nanos = Number((/\.(\d+)/.exec(text)?.[1] ?? '').padEnd(9, '0').slice(0, 9))
    writeInteger(writer, key(2, 0), nanos)
    writeInteger(writer, key(1, 0), Math.floor(Date.parse(text) / 1000))
  }
  closeMessage(writer, fieldKey, before)
}

/** A message whose first field is a text. */
function writeWrapped(writer: ProtobufWriter, fieldKey: number, text: string): void {
  const before = writer.written
  writeText(writer, key(1, 2), text)
  closeMessage(writer, fieldKey, before)
}

const writeJson = (writer: ProtobufWriter, fieldKey: number, value: unknown): void =>
  writeWrapped(writer, fieldKey, JSON.stringify(value))

function writeIntOrString(writer: ProtobufWriter, fieldKey: number, value: number | string = 0): void {
  const before = writer.written
  const isText = typeof value === 'string'
  writeText(writer, key(3, 2), isText ? value : '')
  writeInteger(writer, key(2, 0), isText ? 0 : value)
  writeInteger(writer, key(1, 0), isText ? 1 : 0)
  closeMessage(writer, fieldKey, before)
}

function writeDuration(writer: ProtobufWriter, fieldKey: number, value = ''): void {
  const before = writer.written
  writeInteger(writer, key(1, 0), durationNanos(value))
  closeMessage(writer, fieldKey, before)
}

type ScalarWriter = (writer: ProtobufWriter, fieldKey: number, value: never) => void

const scalarWriters: Readonly<Record<ScalarName, readonly [write: ScalarWriter, wireType: 0 | 1 | 2]>> = {
  string: [writeText, 2],
  bytes: [(writer, fieldKey, value: string) => writeBytes(writer, fieldKey, Uint8Array.fromBase64(value)), 2],
  bool: [(writer, fieldKey, value: boolean | undefined) => writeInteger(writer, fieldKey, value === true ? 1 : 0), 0],
  int32: [writeInteger, 0],
  int64: [writeInteger, 0],
  double: [
    (writer, fieldKey, value: number | undefined) => {
      writer.double(value ?? 0)
      writer.uint32(fieldKey)
    },
    1,
  ],
  quantity: [(writer, fieldKey, value: string | undefined) => writeWrapped(writer, fieldKey, value ?? '0'), 2],
  duration: [writeDuration, 2],
  intOrString: [writeIntOrString, 2],
  time: [writeTime, 2],
  microTime: [writeTime, 2],
  fieldsV1: [writeJson, 2],
  rawExtension: [writeJson, 2],
  json: [writeJson, 2],
}
