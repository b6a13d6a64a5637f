// The function that fills in a message's defaults, composed of closures: see defaults.ts.
import { setOwn } from '../../base/collections/lookup.ts'
import { fitsType } from '../descriptor/choice.ts'
import type { Field, Message, Type } from '../descriptor/field.ts'
import type { MessageFunctions } from '../descriptor/message-function.ts'
import { propertyOf, readProperty, setProperty, type Property } from '../descriptor/property.ts'
import type { JsonObject, JsonValue } from '../json/json-value.ts'
import {
  isFilled,
  isFilledInside,
  isNullUnset,
  isZeroUnset,
  unsetValueOf,
  type Filler,
  type UnsetValue,
} from './unset-value.ts'

/** Returns the same value when nothing was missing in it. */
type ValueFiller = (value: JsonValue) => unknown

interface FieldFiller extends Property {
  readonly unset: UnsetValue | undefined
  readonly isZeroUnset: boolean
  readonly isNullUnset: boolean
  /** Fills what a value of the field contains. */
  readonly fill: ValueFiller | undefined
}

export function composeFiller(message: Message, fillers: MessageFunctions<Filler>): Filler {
  const fields = Object.entries(message.fields)
    .filter(([, field]) => isFilled(field) || isFilledInside(field.type))
    .map(([name, field]) => fieldFiller(name, field, fillers))
  return (object) => {
    let filled: Record<string, unknown> | undefined
    for (const field of fields) {
      const value = readProperty(object, field)
      const next = filledValue(field, value)
      if (next !== value) setProperty((filled ??= { ...object }), field, next)
    }
    return (filled as JsonObject | undefined) ?? object
  }
}

const fieldFiller = (name: string, field: Field, fillers: MessageFunctions<Filler>): FieldFiller => ({
  ...propertyOf(name),
  unset: isFilled(field) ? unsetValueOf(field, fillers) : undefined,
  isZeroUnset: isZeroUnset(field),
  isNullUnset: isNullUnset(field),
  fill: isFilledInside(field.type) ? valueFiller(field.type, fillers) : undefined,
})

function filledValue(field: FieldFiller, value: JsonValue | undefined): unknown {
  if (value === undefined || isUnset(field, value)) return field.unset === undefined ? value : field.unset.value
  return value === null || field.fill === undefined ? value : field.fill(value)
}

const isUnset = ({ isZeroUnset, isNullUnset }: FieldFiller, value: JsonValue): boolean =>
  (isNullUnset && value === null) || (isZeroUnset && (value === '' || value === 0 || value === false))

function valueFiller(type: Type, fillers: MessageFunctions<Filler>): ValueFiller {
  if (typeof type === 'string') return (value) => value
  if (type.kind === 'message' && type.isChoice) return choiceFiller(type, fillers)
  if (type.kind === 'message') {
    const filler = fillers(type)
    return (value) => filler.run(value as JsonObject)
  }
  const fillItem = valueFiller(type.kind === 'list' ? type.element : type.value, fillers)
  return type.kind === 'list'
    ? (value) => filledList(value as readonly JsonValue[], fillItem)
    : (value) => filledMap(value as JsonObject, fillItem)
}

function filledList(list: readonly JsonValue[], fillItem: ValueFiller): readonly unknown[] {
  const filled = list.map(fillItem)
  return filled.some((item, index) => item !== list[index]) ? filled : list
}

function filledMap(map: JsonObject, fillItem: ValueFiller): object {
  let filled: Record<string, unknown> | undefined
  for (const [key, item] of Object.entries(map)) {
    const next = fillItem(item as JsonValue)
    if (next !== item) setOwn((filled ??= { ...map }), key, next)
  }
  return filled ?? map
}

function choiceFiller({ fields }: Message, fillers: MessageFunctions<Filler>): ValueFiller {
  const forms = Object.values(fields).map(({ type }) => ({ type, fill: valueFiller(type, fillers) }))
  return (value) => forms.find(({ type }) => fitsType(type, value))?.fill(value) ?? value
}
