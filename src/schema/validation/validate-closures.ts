// The function that checks a message's constraints, composed of closures: see validate.ts.
import { fitsType } from '../descriptor/choice.ts'
import type { Field, Message, Type } from '../descriptor/field.ts'
import type { MessageFunctions } from '../descriptor/message-function.ts'
import { propertyOf, readProperty, type Property } from '../descriptor/property.ts'
import type { JsonObject, JsonValue } from '../json/json-value.ts'
import { isConstrained, isConstrainedInside, isEmptyTextChecked, prependPath, type Checker } from './constraints.ts'
import { invalid, notSupported, required, type FieldError } from './field-error.ts'

/** Adds errors with the part of the path that follows the value (`[0].name`, or nothing). */
type ValueChecker = (value: JsonValue, errors: FieldError[]) => void

interface FieldChecker extends Property {
  readonly isRequired: boolean
  readonly isEmptyTextChecked: boolean
  readonly checks: readonly ValueChecker[]
}

export function composeChecker(message: Message, checkers: MessageFunctions<Checker>): Checker {
  const fields = Object.entries(message.fields)
    .filter(([, field]) => isConstrained(field) || isConstrainedInside(field.type))
    .map(([name, field]) => fieldChecker(name, field, checkers))
  return (object, errors) => {
    for (const field of fields) {
      const value = readProperty(object, field)
      if (value === undefined || value === null || (value === '' && !field.isEmptyTextChecked)) {
        if (field.isRequired) errors.push(required(field.name))
        continue
      }
      const before = errors.length
      for (const check of field.checks) check(value, errors)
      if (errors.length !== before) prependPath(errors, before, field.name)
    }
  }
}

const fieldChecker = (name: string, field: Field, checkers: MessageFunctions<Checker>): FieldChecker => ({
  ...propertyOf(name),
  isRequired: field.notEmpty === true,
  isEmptyTextChecked: isEmptyTextChecked(field),
  checks: [...constraintsOf(field), ...(isConstrainedInside(field.type) ? [insideChecker(field.type, checkers)] : [])],
})

function constraintsOf(field: Field): ValueChecker[] {
  const { type, enum: values, enumUnchecked, minimum, maximum, notEmpty } = field
  const checks: ValueChecker[] = []
  if (values !== undefined && !enumUnchecked) checks.push(enumChecker(type, values))
  if (minimum !== undefined)
    checks.push((value, errors) => {
      if ((value as number) < minimum) errors.push(invalid('', value, `must be greater than or equal to ${minimum}`))
    })
  if (maximum !== undefined)
    checks.push((value, errors) => {
      if ((value as number) > maximum) errors.push(invalid('', value, `must be less than or equal to ${maximum}`))
    })
  if (notEmpty && typeof type === 'object' && type.kind === 'list')
    checks.push((value, errors) => {
      if ((value as readonly JsonValue[]).length === 0) errors.push(required(''))
    })
  return checks
}

/** An enumeration on a list applies to its elements. */
function enumChecker(type: Type, values: readonly string[]): ValueChecker {
  if (typeof type === 'object' && type.kind === 'list') return listChecker(enumChecker(type.element, values))
  return (value, errors) => {
    if (!values.includes(value as string)) errors.push(notSupported('', value, values))
  }
}

/** Checks the messages that a value is or contains. */
function insideChecker(type: Type, checkers: MessageFunctions<Checker>): ValueChecker {
  if (typeof type === 'string') return () => {}
  if (type.kind === 'list') return listChecker(insideChecker(type.element, checkers))
  if (type.kind === 'map') return mapChecker(insideChecker(type.value, checkers))
  if (type.isChoice) return choiceChecker(type, checkers)
  const checker = checkers(type)
  return (value, errors) => {
    const before = errors.length
    checker.run(value as JsonObject, errors)
    if (errors.length !== before) prependPath(errors, before, '.')
  }
}

const listChecker =
  (check: ValueChecker): ValueChecker =>
  (value, errors) => {
    for (const [index, item] of (value as readonly JsonValue[]).entries()) checkItem(check, item, String(index), errors)
  }

const mapChecker =
  (check: ValueChecker): ValueChecker =>
  (value, errors) => {
    for (const [key, item] of Object.entries(value as JsonObject)) checkItem(check, item as JsonValue, key, errors)
  }

function checkItem(check: ValueChecker, item: JsonValue, key: string, errors: FieldError[]): void {
  const before = errors.length
  check(item, errors)
  if (errors.length !== before) prependPath(errors, before, `[${key}]`)
}

function choiceChecker({ fields }: Message, checkers: MessageFunctions<Checker>): ValueChecker {
  const forms = Object.values(fields).map(({ type }) => ({ type, check: insideChecker(type, checkers) }))
  return (value, errors) => forms.find(({ type }) => fitsType(type, value))?.check(value, errors)
}
