// defaults: fills in static defaults, zero values and the structs that are always there. Shares what needs no change.
import { deepFreeze } from '../../base/collections/deep-freeze.ts'
import { fitsChoice } from '../descriptor/choice.ts'
import { derivation, messageIn, quoted, withinMessage, type Code } from '../descriptor/compile.ts'
import type { Field, Message, Type } from '../descriptor/field.ts'
import type { JsonObject } from '../json/json-value.ts'
import { valueWhenUnset } from '../descriptor/zero.ts'

export const withDefaults = <T extends object>(message: Message, object: T): T =>
  fillerOf(message).run(object as unknown as JsonObject) as unknown as T

type Filler = (object: JsonObject) => JsonObject

const fillerOf = derivation<Filler>(['object'], (message, code) => {
  code.line('let filled = object')
  for (const [name, field] of Object.entries(message.fields)) fillField(code, name, field)
  code.line('return filled')
})

function fillField(code: Code, name: string, field: Field): void {
  const [value, inner] = [code.variable(), messageIn(field.type)]
  const isDeep = inner !== undefined && hasDefaults(inner)
  if (!isFilled(field) && !isDeep) return
  const put = (next: string) => `{ if (filled === object) filled = { ...object }; filled[${quoted(name)}] = ${next} }`
  code.line(`const ${value} = object[${quoted(name)}]`)
  const absent = isFilled(field) ? put(`${code.constant(absentValue(field))}.value`) : '{}'
  code.line(`if (${isUnset(field, value)}) ${absent}`)
  if (!isDeep) return
  const next = code.variable()
  code.line(`else if (${value} !== null) {`)
  fillInto(code, field.type, value, next)
  code.line(`if (${next} !== ${value}) ${put(next)} }`)
}

/** To Go, a value without a pointer that is zero was not set; null stands where null would be filled in. */
function isUnset(field: Field, held: string): string {
  const values = ['undefined']
  if (field.default !== undefined && !field.pointer) values.push("''", '0', 'false')
  if (valueWhenUnset(field) !== null) values.push('null')
  return values.map((value) => `${held} === ${value}`).join(' || ')
}

/** What an unset field is, complete; worked out when it is first needed and shared from then on. */
interface Absent {
  readonly value: unknown
}

function absentValue(field: Field): Absent {
  let complete: unknown
  return {
    get value() {
      return (complete ??= deepFreeze(completed(field.type, field.default ?? unsetValue(field))))
    },
  }
}

/** Whether the field is there even when nothing was sent. */
const isFilled = (field: Field): boolean => field.default !== undefined || unsetValue(field) !== undefined

/** Go has no absent struct, only an empty one. */
const unsetValue = (field: Field): unknown =>
  typeof field.type === 'object' && field.type.kind === 'message' && !field.pointer ? {} : valueWhenUnset(field)

function completed(type: Type, value: unknown): unknown {
  if (typeof type === 'string' || value === null) return value
  if (type.kind === 'message') return fillerOf(type).run(value as JsonObject)
  if (type.kind === 'list') return (value as readonly unknown[]).map((item) => completed(type.element, item))
  return value
}

/** Writes what fills the variable `from` into a new variable `into`: the same value when nothing was missing. */
function fillInto(code: Code, type: Type, from: string, into: string): void {
  code.line(`let ${into} = ${from}`)
  if (typeof type === 'string') return
  if (type.kind === 'message' && type.isChoice) return fillChoice(code, type, from, into)
  if (type.kind === 'message') return void code.line(`${into} = ${code.constant(fillerOf(type))}.run(${from})`)
  const [key, item] = [code.variable(), code.variable()]
  const isList = type.kind === 'list'
  code.line(isList ? `for (let ${key} = 0; ${key} < ${from}.length; ${key}++) {` : `for (const ${key} in ${from}) {`)
  fillInto(code, isList ? type.element : type.value, `${from}[${key}]`, item)
  code.line(`if (${item} !== ${from}[${key}]) {`)
  code.line(`if (${into} === ${from}) ${into} = ${isList ? `${from}.slice()` : `{ ...${from} }`}`)
  code.line(`${into}[${key}] = ${item} } }`)
}

function fillChoice(code: Code, { fields }: Message, from: string, into: string): void {
  for (const { type } of Object.values(fields)) {
    const inner = code.variable()
    code.line(`if (${fitsChoice(type, from)}) {`)
    fillInto(code, type, from, inner)
    code.line(`${into} = ${inner} }`)
  }
}

const hasDefaults = withinMessage(({ fields }) => Object.values(fields).some(isFilled))
