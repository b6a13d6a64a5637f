// Interpreted. defaults: sets static defaults, zero values and the structs that are always present. Shares values that
// do not change.
import { lookup, setOwn } from '../../src/base/collections/lookup.ts'
import { chosenType } from '../../src/schema/descriptor/choice.ts'
import type { Field, Message, Type } from '../../src/schema/descriptor/field.ts'
import type { JsonObject } from '../../src/schema/json/json-value.ts'
import { valueWhenUnset } from '../../src/schema/descriptor/zero.ts'

export function withDefaults<T extends object>(message: Message, object: T): T {
  return fillMessage(message, object as JsonObject) as T
}

function fillMessage(message: Message, object: JsonObject): JsonObject {
  let filled: Record<string, unknown> | undefined
  for (const name in message.fields) {
    const field = lookup(message.fields, name)
    if (field === undefined) continue
    const value = lookup(object, name)
    const isUnset =
      value === undefined || value === null || (field.default !== undefined && !field.pointer && isZero(value))
    const next = isUnset ? (field.default ?? (isStructByValue(field) ? emptyStruct : undefined)) : value
    const complete = next === undefined ? undefined : fillType(field.type, next)
    if (complete !== value && complete !== undefined) setOwn((filled ??= { ...object }), name, complete)
  }
  for (const [name, field] of Object.entries(message.fields)) {
    const written = valueWhenUnset(field)
    if (written !== undefined && lookup(filled ?? object, name) === undefined)
      setOwn((filled ??= { ...object }), name, written)
  }
  return (filled as JsonObject | undefined) ?? object
}

/** In Go, a zero value without a pointer means unset. */
const isZero = (value: unknown): boolean => value === '' || value === 0 || value === false

const emptyStruct = Object.freeze({})

/** Go has no absent struct, only an empty one. */
const isStructByValue = ({ type, pointer }: Field): boolean =>
  typeof type === 'object' && type.kind === 'message' && !pointer

function fillType(type: Type, value: unknown): unknown {
  if (typeof type === 'string') return value
  switch (type.kind) {
    case 'message': {
      const chosen = chosenType(type, value)
      return chosen === undefined ? fillMessage(type, value as JsonObject) : fillType(chosen, value)
    }
    case 'list': {
      if (typeof type.element === 'string') return value
      const items = value as readonly unknown[]
      const filled = items.map((item) => fillType(type.element, item))
      return filled.some((item, index) => item !== items[index]) ? filled : value
    }
    case 'map': {
      if (typeof type.value === 'string') return value
      return Object.fromEntries(
        Object.entries(value as object).map(([name, item]) => [name, fillType(type.value, item)]),
      )
    }
    default:
      return type satisfies never
  }
}
