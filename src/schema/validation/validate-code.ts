// The generated function that checks a message's constraints: see validate.ts.
import { typeTest } from '../descriptor/choice.ts'
import { joined, js, type Code, type Fragment } from '../descriptor/code.ts'
import type { Field, Message, Type } from '../descriptor/field.ts'
import type { MessageFunctions } from '../descriptor/message-function.ts'
import { propertyRead } from '../descriptor/property.ts'
import { isConstrained, isConstrainedInside, isEmptyTextChecked, prependPath, type Checker } from './constraints.ts'
import { invalid, notSupported, required } from './field-error.ts'

export function generateChecker(message: Message, code: Code, checkers: MessageFunctions<Checker>): void {
  for (const [name, field] of Object.entries(message.fields)) {
    const isDeep = isConstrainedInside(field.type)
    if (!isDeep && !isConstrained(field)) continue
    const value = code.variable()
    code.line(js`const ${value} = ${propertyRead(code, js`object`, name)}`)
    const missing = field.notEmpty ? js`errors.push(${code.constant(required)}(${name}))` : js`{}`
    const isEmptyText = isEmptyTextChecked(field) ? js`false` : js`${value} === ''`
    code.line(js`if (${value} === undefined || ${value} === null || ${isEmptyText}) ${missing}`)
    code.line(js`else {`)
    checkValue(code, field, value, js`${name}`)
    if (isDeep) checkInside(code, field.type, value, js`${name}`, checkers)
    code.line(js`}`)
  }
}

/** `path` is an expression, as in all functions here. */
function checkValue(code: Code, field: Field, value: Fragment, path: Fragment): void {
  const { enum: values, minimum, maximum } = field
  const reject = (detail: string) => js`errors.push(${code.constant(invalid)}(${path}, ${value}, ${detail}))`
  if (values !== undefined && !field.enumUnchecked) checkEnum(code, field.type, values, value, path)
  if (minimum !== undefined)
    code.line(js`if (${value} < ${minimum}) ${reject(`must be greater than or equal to ${minimum}`)}`)
  if (maximum !== undefined)
    code.line(js`if (${value} > ${maximum}) ${reject(`must be less than or equal to ${maximum}`)}`)
  if (field.notEmpty && typeof field.type === 'object' && field.type.kind === 'list')
    code.line(js`if (${value}.length === 0) errors.push(${code.constant(required)}(${path}))`)
}

/** An enumeration on a list applies to its elements. */
function checkEnum(code: Code, type: Type, values: readonly string[], value: Fragment, path: Fragment): void {
  if (typeof type === 'object' && type.kind === 'list') {
    const index = code.variable()
    code.line(js`for (let ${index} = 0; ${index} < ${value}.length; ${index}++) {`)
    checkEnum(code, type.element, values, js`${value}[${index}]`, js`${path} + '[' + ${index} + ']'`)
    code.line(js`}`)
    return
  }
  const differs = joined([js`true`, ...values.map((allowed) => js`${value} !== ${allowed}`)], ' && ')
  code.line(
    js`if (${differs}) errors.push(${code.constant(notSupported)}(${path}, ${value}, ${code.constant(values)}))`,
  )
}

function checkInside(
  code: Code,
  type: Type,
  value: Fragment,
  path: Fragment,
  checkers: MessageFunctions<Checker>,
): void {
  if (typeof type === 'string') return
  if (type.kind === 'message' && type.isChoice) {
    for (const { type: chosen } of Object.values(type.fields)) {
      code.line(js`if (${typeTest(chosen, value)}) {`)
      checkInside(code, chosen, value, path, checkers)
      code.line(js`}`)
    }
    return
  }
  if (type.kind === 'message') {
    const before = code.variable()
    code.line(js`const ${before} = errors.length; ${code.constant(checkers(type))}.run(${value}, errors)`)
    code.line(js`if (errors.length !== ${before}) ${code.constant(prependPath)}(errors, ${before}, ${path} + '.')`)
    return
  }
  const key = code.variable()
  const isList = type.kind === 'list'
  if (isList) code.line(js`for (let ${key} = 0; ${key} < ${value}.length; ${key}++) {`)
  else code.line(js`for (const ${key} in ${value}) {`)
  const inner = isList ? type.element : type.value
  checkInside(code, inner, js`${value}[${key}]`, js`${path} + '[' + ${key} + ']'`, checkers)
  code.line(js`}`)
}
