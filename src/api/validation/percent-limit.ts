// A share of a whole: percentages above 100 mean nothing for pods that are there.
import { invalid, type FieldError } from '../../schema/validation/field-error.ts'

/** Counts and text that is no percentage pass: other rules speak of them. */
export function validatePercentLimit(value: number | string, path: string): FieldError[] {
  const percent = typeof value === 'string' ? /^([0-9]+)%$/.exec(value)?.[1] : undefined
  return percent !== undefined && Number(percent) > 100 ? [invalid(path, value, 'must not be greater than 100%')] : []
}
