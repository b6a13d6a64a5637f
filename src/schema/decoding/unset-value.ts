// What an unset field is filled with, and when a field is unset.
import { deepFreeze } from '../../base/collections/deep-freeze.ts'
import { anyContained, messageIn } from '../descriptor/contained-messages.ts'
import type { Field, Type } from '../descriptor/field.ts'
import type { MessageFunctions } from '../descriptor/message-function.ts'
import { valueWhenUnset } from '../descriptor/zero.ts'
import type { JsonObject } from '../json/json-value.ts'

/** Returns the same object when nothing was missing. */
export type Filler = (object: JsonObject) => JsonObject

/** Whether a field is there even when nothing was sent. */
export const isFilled = (field: Field): boolean => field.default !== undefined || unsetValue(field) !== undefined

const hasDefaults = anyContained(({ fields }) => Object.values(fields).some(isFilled))

/** Whether the messages in a type have fields to fill in. */
export function isFilledInside(type: Type): boolean {
  const inner = messageIn(type)
  return inner !== undefined && hasDefaults(inner)
}

/** Go has no absent struct, only an empty one. */
const unsetValue = (field: Field): unknown =>
  typeof field.type === 'object' && field.type.kind === 'message' && !field.pointer ? {} : valueWhenUnset(field)

/** Whether zero, false and empty text are unset: to Go, a value without a pointer that is zero was not set. */
export const isZeroUnset = (field: Field): boolean => field.default !== undefined && !field.pointer

/** Whether null is unset. It is a value where null would be filled in. */
export const isNullUnset = (field: Field): boolean => valueWhenUnset(field) !== null

/** The complete value of an unset field. It is computed on first use, frozen, and shared from then on. */
export interface UnsetValue {
  readonly value: unknown
}

export function unsetValueOf(field: Field, fillers: MessageFunctions<Filler>): UnsetValue {
  let complete: unknown
  return {
    get value() {
      return (complete ??= deepFreeze(completed(field.type, field.default ?? unsetValue(field), fillers)))
    },
  }
}

function completed(type: Type, value: unknown, fillers: MessageFunctions<Filler>): unknown {
  if (typeof type === 'string' || value === null) return value
  if (type.kind === 'message') return fillers(type).run(value as JsonObject)
  if (type.kind === 'list') return (value as readonly unknown[]).map((item) => completed(type.element, item, fillers))
  return value
}
