// Objects as the bytes that Go clients read. Fields come in the order of their numbers; a value that Go holds without a
// pointer is written even when it is zero, as upstream's encoder does; maps are sorted by key.
// Everything is written from the end to the beginning (see the writer), so a message is written from its last field.
import { js } from '../descriptor/code.ts'
import type { Message } from '../descriptor/field.ts'
import { messageFunctions } from '../descriptor/message-function.ts'
import type { JsonObject } from '../json/json-value.ts'
import { generateEncoder, type Encoder } from './protobuf-encode-code.ts'
import { ProtobufWriter } from './protobuf-writer.ts'
import { closeMessage, key, writeBytes, writeText } from './scalar-writers.ts'

const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00)
/** Shared by all encodings, which are synchronous. */
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
  const metadataBytes = encodeProtobuf(metadata, listMeta)
  const writer = shared.begin()
  for (const item of items.toReversed()) writeBytes(writer, key(2, 2), item)
  writeBytes(writer, key(1, 2), metadataBytes)
  return writer.take()
}

const encoderOf = messageFunctions<Encoder>(generateEncoder, [js`writer`, js`object`])

export function encodeProtobuf(message: Message, object: object): Uint8Array {
  encoderOf(message).run(shared.begin(), object as JsonObject)
  return shared.take()
}
