// Rules of the conditions of flow control kinds: each has a type, and types are unique.
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
