// The schema of a custom kind: metadata is decoded as for every kind, the rest by the structural schema of the version.
import type { ObjectSchema } from '../../kind/object-schema.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'
import { DecodeError, decode, type Decoded } from '../../../schema/decoding/decode.ts'
import { message, struct, type Message } from '../../../schema/descriptor/field.ts'
import { deepCopy, isJsonObject, type JsonObject } from '../../../schema/json/json-value.ts'
import type { StructuralSchema } from '../structural/structural-schema.ts'

/** What all custom kinds have in common. Everything else is in their schemas. */
export const customMessage = (name: string): Message => message(name, { metadata: struct(1, objectMeta) })

export const customSchema = (structural: () => StructuralSchema): ObjectSchema => ({
  decode: (body) => decodeCustom(structural(), body),
  withDefaults: <T extends object>(object: T, keepsNull = false) =>
    structural().withDefaults(object as unknown as JsonObject, keepsNull) as unknown as T,
  newStatus: () => undefined,
  validateFields: () => [],
  get structure() {
    return structural().structure
  },
})

function decodeCustom(structural: StructuralSchema, body: unknown): Decoded {
  if (!isJsonObject(body)) throw new DecodeError('the body is not an object')
  const { metadata: sent, ...content } = body
  const { value: metadata, unknownFields } = decode(objectMeta, sent ?? {}, false)
  const pruned = structural.prune(deepCopy(content) as JsonObject)
  return {
    value: { metadata, ...pruned.value },
    unknownFields:
      unknownFields.length === 0
        ? pruned.unknownFields
        : [...unknownFields.map((path) => `metadata.${path}`), ...pruned.unknownFields],
  }
}
