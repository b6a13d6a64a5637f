// Interpreted. protobuf: from the wire format of Go clients to the JSON value that decode() takes. Field numbers are in
// the descriptors; unknown fields are skipped.
import { lookup, setOwn } from '../../src/base/collections/lookup.ts'
import { durationText } from '../../src/schema/scalar/duration.ts'
import { choiceValue } from '../../src/schema/descriptor/choice.ts'
import type { Field, Message, ScalarName, Type } from '../../src/schema/descriptor/field.ts'
import type { JsonObject, JsonValue } from '../../src/schema/json/json-value.ts'
import { parseJson } from '../../src/schema/json/exact-json.ts'

export class ProtobufError extends Error {
  override name = 'ProtobufError'
}

/** The four magic bytes before every Kubernetes object in protobuf. */
const magic = [0x6b, 0x38, 0x73, 0x00]
const depthMax = 100
const utf8 = new TextDecoder('utf-8', { fatal: true })

export interface Envelope {
  readonly apiVersion: string
  readonly kind: string
  readonly raw: Uint8Array
}

/** Decodes runtime.Unknown: its kind and its bytes. */
export function openEnvelope(bytes: Uint8Array): Envelope {
  if (!magic.every((byte, index) => bytes[index] === byte))
    throw new ProtobufError('the body does not begin with the protobuf prefix "k8s\\x00"')
  let apiVersion = ''
  let kind = ''
  let raw = new Uint8Array()
  for (const { number, value } of fieldsOf(bytes.subarray(magic.length))) {
    if (number === 1)
      for (const meta of fieldsOf(asBytes(value))) {
        if (meta.number === 1) apiVersion = utf8.decode(asBytes(meta.value))
        if (meta.number === 2) kind = utf8.decode(asBytes(meta.value))
      }
    if (number === 2) raw = new Uint8Array(asBytes(value))
  }
  return { apiVersion, kind, raw }
}

export function decodeProtobuf(message: Message, bytes: Uint8Array): JsonObject {
  return decodeMessage(tableOf(message), bytes, 0)
}

interface NamedField {
  readonly name: string
  readonly field: Field
}

/** Fields by number; those of an embedded message have their own table. */
interface Table {
  readonly fields: Map<number, NamedField>
  readonly embedded: Map<number, Table>
}

const tables = new WeakMap<Message, Table>()

function tableOf(message: Message): Table {
  const known = tables.get(message)
  if (known !== undefined) return known
  const table: Table = { fields: new Map(), embedded: new Map() }
  for (const [name, field] of Object.entries(message.fields)) {
    const owner = [field.embeddedAt ?? []].flat().reduce(embeddedTable, table)
    owner.fields.set(field.tag, { name, field })
  }
  tables.set(message, table)
  return table
}

function embeddedTable({ embedded }: Table, number: number): Table {
  const table = embedded.get(number) ?? { fields: new Map(), embedded: new Map() }
  embedded.set(number, table)
  return table
}

function decodeMessage({ fields, embedded }: Table, bytes: Uint8Array, depth: number): JsonObject {
  if (depth > depthMax) throw new ProtobufError(`nested more than ${depthMax} levels deep`)
  const target: Record<string, JsonValue> = {}
  for (const { number, value } of fieldsOf(bytes)) {
    const inner = embedded.get(number)
    if (inner !== undefined) Object.assign(target, decodeMessage(inner, asBytes(value), depth + 1))
    const known = fields.get(number)
    if (known !== undefined) addField(target, known, value, depth)
  }
  return target
}

function addField(
  target: Record<string, JsonValue>,
  { name, field: { type } }: NamedField,
  value: WireValue,
  depth: number,
): void {
  if (typeof type === 'object' && type.kind === 'list') {
    const items = (lookup(target, name) ?? []) as JsonValue[]
    setOwn(target, name, items)
    items.push(...decodeElements(type.element, value, depth))
  } else if (typeof type === 'object' && type.kind === 'map') {
    const entries = (lookup(target, name) ?? {}) as Record<string, JsonValue>
    setOwn(target, name, entries)
    const [key, item] = decodeEntry(type.value, asBytes(value), depth)
    Object.defineProperty(entries, key, { value: item, enumerable: true, writable: true, configurable: true })
  } else if (!isZeroTime(type, value)) setOwn(target, name, decodeValue(type, value, depth))
}

/** An unset time is an empty message. */
const isZeroTime = (type: Type, value: WireValue): boolean =>
  (type === 'time' || type === 'microTime') && value instanceof Uint8Array && value.length === 0

// Numbers in a list may be packed into one field.
function decodeElements(element: Type, value: WireValue, depth: number): JsonValue[] {
  if ((element === 'int32' || element === 'int64') && value instanceof Uint8Array) {
    const reader = new Reader(value)
    const items: JsonValue[] = []
    while (!reader.atEnd) items.push(asInt64(reader.varint()))
    return items
  }
  return [decodeValue(element, value, depth)]
}

function decodeEntry(type: Type, bytes: Uint8Array, depth: number): [string, JsonValue] {
  let key = ''
  let item: JsonValue | undefined
  for (const { number, value } of fieldsOf(bytes))
    if (number === 1) key = utf8.decode(asBytes(value))
    else if (number === 2) item = decodeValue(type, value, depth)
  return [key, item ?? (typeof type === 'object' ? {} : '')]
}

function decodeValue(type: Type, value: WireValue, depth: number): JsonValue {
  if (typeof type === 'string') return decodeScalar(type, value)
  if (type.kind === 'message') {
    const fields = decodeMessage(tableOf(type), asBytes(value), depth + 1)
    return type.isChoice ? choiceValue(fields) : fields
  }
  // A list inside a map is wrapped in a message whose first field repeats.
  if (type.kind === 'list')
    return Array.from(fieldsOf(asBytes(value))).flatMap((item) =>
      item.number === 1 ? decodeElements(type.element, item.value, depth + 1) : [],
    )
  throw new ProtobufError('a map cannot stand directly in a list or a map')
}

function decodeScalar(type: ScalarName, value: WireValue): JsonValue {
  switch (type) {
    case 'string':
      return utf8.decode(asBytes(value))
    case 'bytes':
      return asBytes(value).toBase64()
    case 'bool':
      return asNumber(value) !== 0
    case 'int32':
      return asNumber(value)
    case 'int64':
      return asInt64(value)
    case 'double':
      return typeof value === 'bigint' ? (new Float64Array(BigUint64Array.of(value).buffer)[0] ?? 0) : 0
    case 'quantity':
      return partsOf(value).text(1)
    case 'duration':
      return durationText(partsOf(value).number(1))
    case 'intOrString': {
      const deps = partsOf(value)
      return deps.number(1) === 0 ? deps.number(2) : deps.text(3)
    }
    case 'time':
    case 'microTime':
      return timeText(partsOf(value), type)
    case 'fieldsV1':
    case 'rawExtension':
    case 'json':
      return parseJson(partsOf(value).text(1)) as JsonValue
    default:
      return type satisfies never
  }
}

function timeText(deps: Deps, type: 'time' | 'microTime'): string {
  const seconds = new Date(deps.number(1) * 1000).toISOString().slice(0, 19)
  return type === 'time' ? `${seconds}Z` : `${seconds}.${String(Math.floor(deps.number(2) / 1000)).padStart(6, '0')}Z`
}

/** The fields of a small message that represents one value. */
interface Deps {
  number(field: number): number
  text(field: number): string
}

function partsOf(value: WireValue): Deps {
  const found = new Map(Array.from(fieldsOf(asBytes(value)), (entry) => [entry.number, entry.value]))
  return {
    number: (field) => asNumber(found.get(field) ?? 0n),
    text: (field) => utf8.decode(asBytes(found.get(field) ?? new Uint8Array())),
  }
}

/** Varints and fixed numbers are bigints, everything with a length is bytes. */
type WireValue = bigint | Uint8Array

const asBytes = (value: WireValue): Uint8Array => {
  if (value instanceof Uint8Array) return value
  throw new ProtobufError('a number stands where bytes belong')
}

function asInt64(value: WireValue): number | bigint {
  const exact = BigInt.asIntN(64, typeof value === 'bigint' ? value : BigInt(asNumber(value)))
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
}

const asNumber = (value: WireValue): number => {
  if (typeof value === 'bigint') return Number(BigInt.asIntN(64, value))
  throw new ProtobufError('bytes stand where a number belongs')
}

function* fieldsOf(bytes: Uint8Array): Generator<{ number: number; value: WireValue }> {
  const reader = new Reader(bytes)
  while (!reader.atEnd) {
    const key = Number(reader.varint())
    yield { number: key >>> 3, value: reader.value(key & 7) }
  }
}

class Reader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  varint(): bigint {
    let result = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) break
      result |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return result
    }
    throw new ProtobufError('a number is cut off or too long')
  }

  value(wireType: number): WireValue {
    switch (wireType) {
      case 0:
        return this.varint()
      case 1:
        return new DataView(this.#take(8).slice().buffer).getBigUint64(0, true)
      case 2:
        return this.#take(Number(this.varint()))
      case 5:
        return BigInt(new DataView(this.#take(4).slice().buffer).getUint32(0, true))
      default:
        throw new ProtobufError(`there is no wire type ${wireType}`)
    }
  }

  #take(count: number): Uint8Array {
    const end = this.#at + count
    if (end > this.#bytes.length) throw new ProtobufError('the body is cut off')
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }
}
