// Interpreted. protobuf-encode: objects in the format that Go clients read. Fields are in the order of their numbers;
// zero values of non-pointer fields are written, as upstream's encoder does; maps are sorted by key.
import { lookup } from '../../src/base/collections/lookup.ts'
import { durationNanos } from '../../src/schema/scalar/duration.ts'
import { choiceFields } from '../../src/schema/descriptor/choice.ts'
import type { Field, Message, ScalarName, Type } from '../../src/schema/descriptor/field.ts'
import type { JsonObject } from '../../src/schema/json/json-value.ts'
import { jsonText } from '../../src/schema/json/exact-json.ts'

const utf8 = new TextEncoder()
const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00)

/** The four magic bytes and the runtime.Unknown envelope of an object. */
export function encodeEnvelope(apiVersion: string, kind: string, raw: Uint8Array): Uint8Array {
  const typeMeta = new Writer().text(1, apiVersion).text(2, kind).bytes
  const unknown = new Writer().field(1, typeMeta).field(2, raw).text(3, '').text(4, '').bytes
  return joined([magic, unknown])
}

/** One watch event: its type, and the object in its own envelope. */
export function encodeWatchFrame(type: string, envelope: Uint8Array): Uint8Array {
  const event = new Writer().text(1, type).field(2, new Writer().field(1, envelope).bytes).bytes
  const length = new Uint8Array(4)
  new DataView(length.buffer).setUint32(0, event.length)
  return joined([length, event])
}

/** A list: its metadata, then each item. */
export function encodeList(metadata: Message, listMeta: object, items: readonly Uint8Array[]): Uint8Array {
  const writer = new Writer().field(1, encodeProtobuf(metadata, listMeta))
  for (const item of items) writer.field(2, item)
  return writer.bytes
}

export function encodeProtobuf(message: Message, object: object): Uint8Array {
  const writer = new Writer()
  for (const entry of tableOf(message)) writeEntry(writer, entry, object as JsonObject)
  return writer.bytes
}

/** A field, or the embedded message that contains several fields. */
type Entry =
  | { readonly tag: number; readonly name: string; readonly field: Field }
  | { readonly tag: number; readonly embedded: Entry[] }

const tables = new WeakMap<Message, readonly Entry[]>()

function tableOf(message: Message): readonly Entry[] {
  const known = tables.get(message)
  if (known !== undefined) return known
  const root: Entry[] = []
  for (const [name, field] of Object.entries(message.fields))
    [field.embeddedAt ?? []].flat().reduce(embeddedIn, root).push({ tag: field.tag, name, field })
  const table = ordered(root)
  tables.set(message, table)
  return table
}

function embeddedIn(entries: Entry[], tag: number): Entry[] {
  const known = entries.find((entry) => entry.tag === tag && 'embedded' in entry)
  if (known !== undefined && 'embedded' in known) return known.embedded
  const embedded: Entry[] = []
  entries.push({ tag, embedded })
  return embedded
}

const ordered = (entries: readonly Entry[]): readonly Entry[] =>
  entries
    .map((entry) => ('embedded' in entry ? { ...entry, embedded: [...ordered(entry.embedded)] } : entry))
    .toSorted((a, b) => a.tag - b.tag)

function writeEntry(writer: Writer, entry: Entry, object: JsonObject): void {
  if ('embedded' in entry) {
    const inner = new Writer()
    for (const part of entry.embedded) writeEntry(inner, part, object)
    writer.field(entry.tag, inner.bytes)
  } else writeField(writer, entry.field, lookup(object, entry.name))
}

function writeField(writer: Writer, { type, tag, pointer }: Field, value: unknown): void {
  if (typeof type === 'object' && type.kind === 'list') {
    for (const item of (value as readonly unknown[] | undefined) ?? []) writeValue(writer, tag, type.element, item)
  } else if (typeof type === 'object' && type.kind === 'map') {
    const entries = Object.entries((value as object | undefined) ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
    for (const [key, item] of entries) {
      const inner = new Writer().text(1, key)
      writeValue(inner, 2, type.value, item)
      writer.field(tag, inner.bytes)
    }
  } else if ((value ?? undefined) !== undefined || !isAbsentWhenUnset(type, pointer))
    writeValue(writer, tag, type, value)
}

// Pointers, bytes and raw JSON can be nil in Go; everything else has a zero value that is written.
const isAbsentWhenUnset = (type: Type, pointer: true | undefined): boolean =>
  pointer === true || type === 'bytes' || type === 'fieldsV1' || type === 'rawExtension' || type === 'json'

function writeValue(writer: Writer, tag: number, type: Type, value: unknown): void {
  if (typeof type === 'string') return writeScalar(writer, tag, type, value)
  if (type.kind === 'message')
    writer.field(
      tag,
      encodeProtobuf(type, type.isChoice ? choiceFields(type, value) : ((value as object | undefined) ?? {})),
    )
  else if (type.kind === 'list') {
    const inner = new Writer()
    for (const item of value as readonly unknown[]) writeValue(inner, 1, type.element, item)
    writer.field(tag, inner.bytes)
  } else throw new Error('a map cannot stand directly in a list or a map')
}

function writeScalar(writer: Writer, tag: number, type: ScalarName, value: unknown): void {
  switch (type) {
    case 'string':
      return void writer.text(tag, (value as string | undefined) ?? '')
    case 'bytes':
      return void writer.field(tag, Uint8Array.fromBase64(value as string))
    case 'bool':
      return void writer.varint(tag, value === true ? 1n : 0n)
    case 'int32':
    case 'int64':
      return void writer.varint(tag, BigInt((value as number | undefined) ?? 0))
    case 'double':
      return void writer.double(tag, (value as number | undefined) ?? 0)
    case 'quantity':
      return void writer.field(tag, new Writer().text(1, (value as string | undefined) ?? '0').bytes)
    case 'duration':
      return void writer.field(
        tag,
        new Writer().varint(1, BigInt(durationNanos((value as string | undefined) ?? ''))).bytes,
      )
    case 'intOrString':
      return void writer.field(tag, intOrString((value as number | string | undefined) ?? 0))
    case 'time':
    case 'microTime':
      return void writer.field(tag, value === undefined || value === null ? new Uint8Array() : time(value as string))
    case 'fieldsV1':
    case 'rawExtension':
    case 'json':
      return void writer.field(tag, new Writer().text(1, jsonText(value)).bytes)
    default:
      return type satisfies never
  }
}

const intOrString = (value: number | string): Uint8Array =>
  typeof value === 'number'
    ? new Writer().varint(1, 0n).varint(2, BigInt(value)).text(3, '').bytes
    : new Writer().varint(1, 1n).varint(2, 0n).text(3, value).bytes

function time(text: string): Uint8Array {
  const nanos = Number((/\.(\d+)/.exec(text)?.[1] ?? '').padEnd(9, '0').slice(0, 9))
  const seconds = Math.floor(Date.parse(text) / 1000)
  return new Writer().varint(1, BigInt(seconds)).varint(2, BigInt(nanos)).bytes
}

class Writer {
  #parts: Uint8Array[] = []

  get bytes(): Uint8Array {
    return joined(this.#parts)
  }

  varint(tag: number, value: bigint): this {
    this.#parts.push(varint(BigInt(tag << 3)), varint(BigInt.asUintN(64, value)))
    return this
  }

  double(tag: number, value: number): this {
    const bytes = new Uint8Array(8)
    new DataView(bytes.buffer).setFloat64(0, value, true)
    this.#parts.push(varint(BigInt((tag << 3) | 1)), bytes)
    return this
  }

  text(tag: number, value: string): this {
    return this.field(tag, utf8.encode(value))
  }

  field(tag: number, value: Uint8Array): this {
    this.#parts.push(varint(BigInt((tag << 3) | 2)), varint(BigInt(value.length)), value)
    return this
  }
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = []
  let left = value
  do {
    const low = Number(left & 0x7fn)
    left >>= 7n
    bytes.push(left === 0n ? low : low | 0x80)
  } while (left > 0n)
  return Uint8Array.from(bytes)
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}
