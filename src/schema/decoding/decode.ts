// decode: from parsed JSON to an object of a message, as Go's decoder and zero values would have it.
// Wrong types are errors; unknown fields are reported and dropped; empty values that mean absent are dropped.
// The fields of the result are in the order of the descriptors, whatever order they were sent in: objects of one kind have
// the same hidden classes, and responses have one order of fields.
import { js } from '../descriptor/code.ts'
import type { Message } from '../descriptor/field.ts'
import { messageFunctions } from '../descriptor/message-function.ts'
import { isJsonObject, jsonKind, type JsonObject } from '../json/json-value.ts'
import { generateDecoder, type Decoder } from './decode-code.ts'
import { DecodeError, FieldTypeError } from './decode-error.ts'
import { goTypeName } from './go-type-name.ts'

export { DecodeError } from './decode-error.ts'

export interface Decoded {
  readonly value: JsonObject
  /** Paths of fields that the type does not have: `spec.replcas`. */
  readonly unknownFields: readonly string[]
}

const decoderOf = messageFunctions<Decoder>(generateDecoder, [js`source`, js`unknown`, js`depth`, js`hasTypeMeta`])

/** `hasTypeMeta`: whether it may have the fields apiVersion and kind beside those of the message. */
export function decode(message: Message, value: unknown, hasTypeMeta = true): Decoded {
  if (!isJsonObject(value))
    throw new DecodeError(`json: cannot unmarshal ${jsonKind(value)} into Go value of type ${goTypeName(message)}`)
  const unknown: string[] = []
  try {
    const decoded = decoderOf(message).run(value, unknown, 0, hasTypeMeta)
    // Each path begins with the separator of its first step.
    return { value: decoded, unknownFields: unknown.map((path) => path.slice(1)) }
  } catch (error) {
    throw error instanceof FieldTypeError ? error.toDecodeError() : error
  }
}

/** A map as it was sent. An empty one is decoded to undefined, which everything else treats as absent. */
export const sentMap = <T extends object, Name extends keyof T & string>(object: T, name: Name): unknown =>
  object[name] ?? (name in object ? {} : undefined)
