// The generated function that fills in a message's defaults: see defaults.ts.
import { setOwn } from '../../base/collections/lookup.ts'
import { typeTest } from '../descriptor/choice.ts'
import { joined, js, type Code, type Fragment } from '../descriptor/code.ts'
import type { Field, Message, Type } from '../descriptor/field.ts'
import type { MessageFunctions } from '../descriptor/message-function.ts'
import { propertyRead, propertySet } from '../descriptor/property.ts'
import { isFilled, isFilledInside, isNullUnset, isZeroUnset, unsetValueOf, type Filler } from './unset-value.ts'

export function generateFiller(message: Message, code: Code, fillers: MessageFunctions<Filler>): void {
  code.line(js`let filled = object`)
  for (const [name, field] of Object.entries(message.fields))
    if (isFilled(field) || isFilledInside(field.type)) fillField(code, name, field, fillers)
  code.line(js`return filled`)
}

function fillField(code: Code, name: string, field: Field, fillers: MessageFunctions<Filler>): void {
  const value = code.variable()
  const put = (next: Fragment) =>
    js`{ if (filled === object) filled = { ...object }; ${propertySet(code, js`filled`, name, next)} }`
  code.line(js`const ${value} = ${propertyRead(code, js`object`, name)}`)
  const unset = isFilled(field) ? put(js`${code.constant(unsetValueOf(field, fillers))}.value`) : js`{}`
  code.line(js`if (${isUnset(field, value)}) ${unset}`)
  if (!isFilledInside(field.type)) return
  const next = code.variable()
  code.line(js`else if (${value} !== null) {`)
  fillInto(code, field.type, value, next, fillers)
  code.line(js`if (${next} !== ${value}) ${put(next)} }`)
}

function isUnset(field: Field, held: Fragment): Fragment {
  const tests = [js`${held} === undefined`]
  if (isZeroUnset(field)) tests.push(js`${held} === '' || ${held} === 0 || ${held} === false`)
  if (isNullUnset(field)) tests.push(js`${held} === null`)
  return joined(tests, ' || ')
}

/** Writes what fills the variable `from` into a new variable `into`: the same value when nothing was missing. */
function fillInto(code: Code, type: Type, from: Fragment, into: Fragment, fillers: MessageFunctions<Filler>): void {
  code.line(js`let ${into} = ${from}`)
  if (typeof type === 'string') return
  if (type.kind === 'message' && type.isChoice) return fillChoice(code, type, from, into, fillers)
  if (type.kind === 'message') return code.line(js`${into} = ${code.constant(fillers(type))}.run(${from})`)
  const key = code.variable()
  const item = code.variable()
  if (type.kind === 'list') {
    code.line(js`for (let ${key} = 0; ${key} < ${from}.length; ${key}++) {`)
    fillInto(code, type.element, js`${from}[${key}]`, item, fillers)
    code.line(js`if (${item} !== ${from}[${key}]) { if (${into} === ${from}) ${into} = ${from}.slice()`)
    code.line(js`${into}[${key}] = ${item} } }`)
    return
  }
  code.line(js`for (const ${key} in ${from}) {`)
  fillInto(code, type.value, js`${from}[${key}]`, item, fillers)
  code.line(js`if (${item} !== ${from}[${key}]) { if (${into} === ${from}) ${into} = { ...${from} }`)
  code.line(js`${code.constant(setOwn)}(${into}, ${key}, ${item}) } }`)
}

function fillChoice(
  code: Code,
  { fields }: Message,
  from: Fragment,
  into: Fragment,
  fillers: MessageFunctions<Filler>,
): void {
  for (const { type } of Object.values(fields)) {
    const inner = code.variable()
    code.line(js`if (${typeTest(type, from)}) {`)
    fillInto(code, type, from, inner, fillers)
    code.line(js`${into} = ${inner} }`)
  }
}
