// The error of a rule that does not hold: its type is the rule's reason, its value is shown unless it is an object or a list.
import type { JsonValue } from '../../../schema/json/json-value.ts'
import { duplicate, forbidden, invalid, required, type FieldError } from '../../../schema/validation/field-error.ts'
import type { ValidationRule } from '../schema/json-schema-props.ts'

/** The rule in messages: its own message, or its expression. */
export const ruleName = ({ message = '', rule }: ValidationRule): string => (message === '' ? rule : message).trim()

const ruleMessage = (rule: ValidationRule): string =>
  (rule.message ?? '') === '' ? `failed rule: ${ruleName(rule)}` : ruleName(rule)

export function failedRuleError(
  path: string,
  value: JsonValue,
  message: string | undefined,
  rule: ValidationRule,
): FieldError {
  const detail = message ?? ruleMessage(rule)
  const isShown = typeof value !== 'object'
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbidden(path, detail)
    case 'FieldValueRequired':
      return required(path, detail)
    case 'FieldValueDuplicate':
      return isShown
        ? duplicate(path, value)
        : { reason: 'FieldValueDuplicate', field: path, message: 'Duplicate value' }
    default:
      return isShown
        ? invalid(path, value, detail)
        : { reason: 'FieldValueInvalid', field: path, message: `Invalid value: ${detail}` }
  }
}
