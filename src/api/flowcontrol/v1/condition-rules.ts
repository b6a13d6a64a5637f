// Rules of the conditions that the kinds of flow control report: each has a type, and no type comes twice.
import { duplicate, required, type FieldError } from '../../../schema/field-error.ts'

export const validateFlowConditions = (conditions: readonly { readonly type?: string }[]): FieldError[] =>
  conditions.flatMap(({ type = '' }, index) => {
    const path = `status.conditions[${index}].type`
    const isKnown = conditions.slice(0, index).some((earlier) => (earlier.type ?? '') === type)
    return [...(isKnown ? [duplicate(path, type)] : []), ...(type === '' ? [required(path, 'must not be empty')] : [])]
  })
