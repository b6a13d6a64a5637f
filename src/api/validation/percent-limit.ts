// The upper limit of percentages of existing pods.
import { invalid, type FieldError } from '../../schema/validation/field-error.ts'

/** Counts and invalid percentages are accepted: other rules check them. */
export function validatePercentLimit(value: number | string, path: string): FieldError[] {
  const percent = typeof value === 'string' ? /^([0-9]+)%$/.exec(value)?.[1] : undefined
  return percent !== undefined && Number(percent) > 100 ? [invalid(path, value, 'must not be greater than 100%')] : []
}
