// decodeProtobuf: from the wire form that Go clients send to the JSON value that decode() takes. Fields are found by the
// numbers in the descriptors; unknown fields are skipped, as protobuf specifies.
import { js } from '../descriptor/code.ts'
import type { Message } from '../descriptor/field.ts'
import { messageFunctions } from '../descriptor/message-function.ts'
import type { JsonObject } from '../json/json-value.ts'
import { generateReader, type MessageReader } from './protobuf-decode-code.ts'
import { ProtobufReader } from './protobuf-reader.ts'

export { decodeEnvelope, type Envelope } from './decode-envelope.ts'
export { ProtobufError } from './protobuf-reader.ts'

const readerOf = messageFunctions<MessageReader>(generateReader, [js`reader`, js`end`, js`depth`])

/** Throws TooManyValuesError beyond so many messages and strings: an empty one takes two bytes here and fifty times that as an object. */
export function decodeProtobuf(message: Message, bytes: Uint8Array, valuesMax = Infinity): JsonObject {
  const reader = new ProtobufReader(bytes, valuesMax)
  return readerOf(message).run(reader, reader.end, 0)
}
