// Constraints: which fields and types have any, and how errors inside of values get their paths.
import { anyContained, messageIn } from '../descriptor/contained-messages.ts'
import type { Field, Type } from '../descriptor/field.ts'
import type { JsonObject } from '../json/json-value.ts'
import type { FieldError } from './field-error.ts'

/** Adds errors with paths relative to the object; the caller prepends its own step. So a valid object pays for no paths. */
export type Checker = (object: JsonObject, errors: FieldError[]) => void

export const isConstrained = ({ enum: values, enumUnchecked, minimum, maximum, notEmpty }: Field): boolean =>
  (values !== undefined && !enumUnchecked) || minimum !== undefined || maximum !== undefined || notEmpty === true

const hasConstraints = anyContained(({ fields }) => Object.values(fields).some(isConstrained))

/** Whether the messages in a type have constrained fields. */
export function isConstrainedInside(type: Type): boolean {
  const inner = messageIn(type)
  return inner !== undefined && hasConstraints(inner)
}

/** Whether an empty text is checked as a value: behind a pointer it is one, and an enumeration may not contain it. */
export const isEmptyTextChecked = (field: Field): boolean =>
  field.pointer === true && field.enum !== undefined && !field.notEmpty

/** Errors before `from` belong to values outside: visiting them would make many errors cost the square of their number. */
export function prependPath(errors: FieldError[], from: number, step: string): void {
  for (let index = from; index < errors.length; index++) {
    const error = errors[index] as FieldError
    errors[index] = { ...error, field: `${step}${error.field}` }
  }
}
