// Rules of the conditions that the kinds of flow control report: each has a type, and no type comes twice.
import { areRepeated } from '../../../base/collections/first-indexes.ts'
import { duplicate, required, type FieldError } from '../../../schema/validation/field-error.ts'

export function validateFlowConditions(conditions: readonly { readonly type?: string }[]): FieldError[] {
  const repeated = areRepeated(conditions, ({ type = '' }) => type)
  return conditions.flatMap(({ type = '' }, index) => {
    const path = `status.conditions[${index}].type`
    const errors = repeated[index] ? [duplicate(path, type)] : []
    return type === '' ? [...errors, required(path, 'must not be empty')] : errors
  })
}
