// choice: messages that in JSON are one of their fields: `true` or a schema, a schema or a list of them. Objects inside
// hold the JSON form; protobuf has the fields.
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts'
import { js, type Fragment } from './code.ts'
import type { Message, Type } from './field.ts'

/** Whether a value is the JSON form of a field of this type. */
export function fitsType(type: Type, value: unknown): boolean {
  if (typeof type === 'string') return type === 'bool' && typeof value === 'boolean'
  return type.kind === 'list' ? Array.isArray(value) : isJsonObject(value)
}

/** An expression that does what fitsType does, for a variable that is neither null nor undefined. */
export function typeTest(type: Type, value: Fragment): Fragment {
  if (typeof type === 'string') return type === 'bool' ? js`typeof ${value} === 'boolean'` : js`false`
  return type.kind === 'list'
    ? js`Array.isArray(${value})`
    : js`typeof ${value} === 'object' && !Array.isArray(${value})`
}

/** The type of the field that a value stands for; undefined when the message is no choice or nothing fits. */
export const chosenType = (message: Message, value: unknown): Type | undefined =>
  message.isChoice ? Object.values(message.fields).find(({ type }) => fitsType(type, value))?.type : undefined

/** The fields that protobuf writes for a value. A schema also sets `allows`, as upstream's decoder has it. */
export function choiceFields({ fields }: Message, value: unknown): JsonObject {
  const [name] = Object.entries(fields).find(([, { type }]) => fitsType(type, value)) ?? []
  if (name === undefined) return {}
  return { ...('allows' in fields && name !== 'allows' ? { allows: true } : {}), [name]: value as JsonValue }
}

/** The value that the fields read from protobuf stand for. */
export function choiceValue({ allows, ...others }: JsonObject): JsonValue {
  return Object.values(others)[0] ?? allows ?? null
}
