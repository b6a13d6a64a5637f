// validate: the constraints that stand on the fields themselves. Rules across fields are functions in the kind's file.
import { fitsChoice } from '../descriptor/choice.ts'
import { derivation, messageIn, quoted, withinMessage, type Code } from '../descriptor/compile.ts'
import type { Field, Message, Type } from '../descriptor/field.ts'
import { invalid, notSupported, required, type FieldError } from './field-error.ts'
import type { JsonObject } from '../json/json-value.ts'

/** All violations at once, in the order of the fields. */
export function validateFields(message: Message, object: object): FieldError[] {
  const errors: FieldError[] = []
  checkerOf(message).run(object as JsonObject, errors)
  return errors
}

/** Errors are added under the field's own name; the caller puts its name before them: no path without an error. */
type Checker = (object: JsonObject, errors: FieldError[]) => void

const checkerOf = derivation<Checker>(['object', 'errors'], (message, code) => {
  for (const [name, field] of Object.entries(message.fields)) {
    const inner = messageIn(field.type)
    const isDeep = inner !== undefined && hasConstraints(inner)
    if (!isDeep && !isConstrained(field)) continue
    const value = code.variable()
    code.line(`const ${value} = object[${quoted(name)}]`)
    const missing = field.notEmpty ? `errors.push(${code.constant(required)}(${quoted(name)}))` : '{}'
    // Behind a pointer an empty text is a value, and one that an enumeration may not have.
    const isText = field.pointer && field.enum !== undefined && !field.notEmpty ? '' : ` || ${value} === ''`
    code.line(`if (${value} === undefined || ${value} === null${isText}) ${missing}`)
    code.line('else {')
    checkValue(code, field, value, quoted(name))
    if (isDeep) checkInside(code, field.type, value, quoted(name))
    code.line('}')
  }
})

const isConstrained = ({ enum: values, enumUnchecked, minimum, maximum, notEmpty }: Field): boolean =>
  (values !== undefined && !enumUnchecked) || minimum !== undefined || maximum !== undefined || notEmpty === true

const hasConstraints = withinMessage(({ fields }) => Object.values(fields).some(isConstrained))

function checkValue(code: Code, field: Field, value: string, at: string): void {
  const { enum: values, minimum, maximum } = field
  const refuse = (detail: string) => `errors.push(${code.constant(invalid)}(${at}, ${value}, ${quoted(detail)}))`
  if (values !== undefined && !field.enumUnchecked) checkEnum(code, field.type, values, value, at)
  if (minimum !== undefined)
    code.line(`if (${value} < ${minimum}) ${refuse(`must be greater than or equal to ${minimum}`)}`)
  if (maximum !== undefined)
    code.line(`if (${value} > ${maximum}) ${refuse(`must be less than or equal to ${maximum}`)}`)
  if (field.notEmpty && typeof field.type === 'object' && field.type.kind === 'list')
    code.line(`if (${value}.length === 0) errors.push(${code.constant(required)}(${at}))`)
}

/** An enumeration on a list is of its elements. */
function checkEnum(code: Code, type: Type, values: readonly string[], value: string, at: string): void {
  if (typeof type === 'object' && type.kind === 'list') {
    const index = code.variable()
    code.line(`for (let ${index} = 0; ${index} < ${value}.length; ${index}++) {`)
    checkEnum(code, type.element, values, `${value}[${index}]`, `${at} + '[' + ${index} + ']'`)
    code.line('}')
    return
  }
  const differs = values.map((allowed) => `${value} !== ${quoted(allowed)}`).join(' && ')
  code.line(`if (${differs}) errors.push(${code.constant(notSupported)}(${at}, ${value}, ${code.constant(values)}))`)
}

function checkInside(code: Code, type: Type, value: string, at: string): void {
  if (typeof type === 'string') return
  if (type.kind === 'message' && type.isChoice) {
    for (const { type: chosen } of Object.values(type.fields)) {
      code.line(`if (${fitsChoice(chosen, value)}) {`)
      checkInside(code, chosen, value, at)
      code.line('}')
    }
    return
  }
  if (type.kind === 'message') {
    const before = code.variable()
    code.line(`const ${before} = errors.length; ${code.constant(checkerOf(type))}.run(${value}, errors)`)
    code.line(`if (errors.length !== ${before}) ${code.constant(prefix)}(errors, ${before}, ${at})`)
    return
  }
  const key = code.variable()
  const isList = type.kind === 'list'
  code.line(isList ? `for (let ${key} = 0; ${key} < ${value}.length; ${key}++) {` : `for (const ${key} in ${value}) {`)
  checkInside(code, isList ? type.element : type.value, `${value}[${key}]`, `${at} + '[' + ${key} + ']'`)
  code.line('}')
}

function prefix(errors: FieldError[], from: number, name: string): void {
  // Errors before `from` belong to values outside: visiting them would make many errors cost the square of their number.
  for (let index = from; index < errors.length; index++) {
    const error = errors[index] as FieldError
    errors[index] = { ...error, field: `${name}.${error.field}` }
  }
}
