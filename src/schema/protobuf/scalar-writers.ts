// How scalars are written to protobuf. Everything is written from the end to the beginning: see the writer.
import type { ScalarName } from '../descriptor/field.ts'
import { durationNanos } from '../scalar/duration.ts'
import type { ProtobufWriter } from './protobuf-writer.ts'
import { jsonText } from '../json/exact-json.ts'

/** The number of a field and the wire type of its value, as one number before it. */
export const key = (tag: number, wireType: 0 | 1 | 2): number => (tag << 3) | wireType

/** Makes what was written since `before` a message of this key. */
export function closeMessage(writer: ProtobufWriter, fieldKey: number, before: number): void {
  writer.uint32(writer.written - before)
  writer.uint32(fieldKey)
}

export function writeBytes(writer: ProtobufWriter, fieldKey: number, value: Uint8Array): void {
  writer.raw(value)
  writer.uint32(value.length)
  writer.uint32(fieldKey)
}

export function writeText(writer: ProtobufWriter, fieldKey: number, value = ''): void {
  writer.text(value)
  writer.uint32(fieldKey)
}

function writeInteger(writer: ProtobufWriter, fieldKey: number, value: number | bigint = 0): void {
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
  writeWrapped(writer, fieldKey, jsonText(value))

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

export const scalarWriters: Readonly<Record<ScalarName, readonly [write: ScalarWriter, wireType: 0 | 1 | 2]>> = {
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
