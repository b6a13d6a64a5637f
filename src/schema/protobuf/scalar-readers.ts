// How scalars are read from protobuf, and what both implementations of the decoder share.
import { durationText } from '../scalar/duration.ts'
import type { ScalarName, Type } from '../descriptor/field.ts'
import { nestsTooDeep } from '../json/json-depth.ts'
import type { JsonValue } from '../json/json-value.ts'
import { ProtobufError, type ProtobufReader } from './protobuf-reader.ts'
import { parseJson } from '../json/exact-json.ts'

export const protobufDepthMax = 100

/** Reads a scalar. `end` is where the message that contains it ends. */
type ScalarReader = (reader: ProtobufReader, end: number) => JsonValue | undefined

const wrapped =
  (valueOf: (fields: WrapperFields) => JsonValue | undefined): ScalarReader =>
  (reader, end) =>
    valueOf(wrapperFieldsOf(reader, reader.messageEnd(end)))

/** The fields of a small message that stands for one value. */
interface WrapperFields {
  readonly isEmpty: boolean
  /** By field number. */
  readonly numbers: readonly number[]
  readonly texts: readonly string[]
}

function wrapperFieldsOf(reader: ProtobufReader, end: number): WrapperFields {
  const isEmpty = reader.at === end
  const numbers = [0, 0, 0, 0]
  const texts = ['', '', '', '']
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
  return parseJson(text) as JsonValue
}

export const scalarReaders: Readonly<Record<ScalarName, ScalarReader>> = {
  string: (reader) => reader.text(),
  bytes: (reader) => reader.bytes().toBase64(),
  bool: (reader) => reader.integer() !== 0,
  int32: (reader) => reader.integer(),
  int64: (reader) => reader.int64(),
  double: (reader) => reader.double(),
  quantity: wrapped(firstText),
  duration: wrapped(durationOf),
  intOrString: wrapped(intOrStringOf),
  time: wrapped(timeText),
  microTime: wrapped(microTimeText),
  fieldsV1: wrapped(jsonOf),
  rawExtension: wrapped(jsonOf),
  json: wrapped(jsonOf),
}

export function wireTypeOf(type: Type): 0 | 1 | 2 {
  if (type === 'double') return 1
  return type === 'bool' || type === 'int32' || type === 'int64' ? 0 : 2
}

export function skipUnknown(reader: ProtobufReader, key: number, known: ReadonlySet<number>): void {
  reader.skip(key)
  if (known.has(key >>> 3))
    throw new ProtobufError(
      (key & 7) === 2 ? 'bytes stand where a number belongs' : 'a number stands where bytes belong',
    )
}

export const tooDeep = () => new ProtobufError(`nested more than ${protobufDepthMax} levels deep`)

export const mapInside = () => new ProtobufError('a map cannot be an element of a list or a map')
