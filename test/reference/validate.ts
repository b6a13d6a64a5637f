// Interpreted. validate: the constraints of the fields themselves. Rules across fields are functions in the kind's
// file.
import { lookup } from '../../src/base/collections/lookup.ts'
import { chosenType } from '../../src/schema/descriptor/choice.ts'
import type { Field, Message, Type } from '../../src/schema/descriptor/field.ts'
import { invalid, notSupported, required, type FieldError } from '../../src/schema/validation/field-error.ts'
import type { JsonObject } from '../../src/schema/json/json-value.ts'

/** All violations, in the order of the fields. */
export function validateFields(message: Message, object: object, path = ''): FieldError[] {
  const errors: FieldError[] = []
  checkMessage(message, object as JsonObject, path, errors)
  return errors
}

function checkMessage(message: Message, object: JsonObject, path: string, errors: FieldError[]): void {
  for (const name in message.fields) {
    const field = lookup(message.fields, name)
    if (field === undefined) continue
    const at = path === '' ? name : `${path}.${name}`
    const value = lookup(object, name)
    const isEmptyValue = value === '' && !(field.pointer && field.enum !== undefined && !field.notEmpty)
    if (value === undefined || value === null || isEmptyValue) {
      if (field.notEmpty) errors.push(required(at))
      continue
    }
    checkValue(field, value, at, errors)
    checkType(field.type, value, at, errors)
  }
}

function checkValue(field: Field, value: unknown, at: string, errors: FieldError[]): void {
  if (field.enum !== undefined && !field.enumUnchecked) errors.push(...unsupported(field.enum, value, at))
  if (field.minimum !== undefined && (value as number) < field.minimum)
    errors.push(invalid(at, value, `must be greater than or equal to ${field.minimum}`))
  if (field.maximum !== undefined && (value as number) > field.maximum)
    errors.push(invalid(at, value, `must be less than or equal to ${field.maximum}`))
  if (field.notEmpty && Array.isArray(value) && value.length === 0) errors.push(required(at))
}

/** An enumeration on a list applies to its elements. */
const unsupported = (supported: readonly string[], value: unknown, at: string): FieldError[] =>
  Array.isArray(value)
    ? value.flatMap((item, index) => unsupported(supported, item, `${at}[${index}]`))
    : supported.includes(value as string)
      ? []
      : [notSupported(at, value, supported)]

function checkType(type: Type, value: unknown, at: string, errors: FieldError[]): void {
  if (typeof type === 'string') return
  switch (type.kind) {
    case 'message': {
      const chosen = chosenType(type, value)
      if (chosen !== undefined) return checkType(chosen, value, at, errors)
      return checkMessage(type, value as JsonObject, at, errors)
    }
    case 'list':
      if (typeof type.element !== 'string')
        for (const [index, item] of (value as unknown[]).entries())
          checkType(type.element, item, `${at}[${index}]`, errors)
      return
    case 'map':
      if (typeof type.value !== 'string')
        for (const [name, item] of Object.entries(value as object))
          checkType(type.value, item, `${at}[${name}]`, errors)
      return
    default:
      return type satisfies never
  }
}
