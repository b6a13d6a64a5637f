// A count or a percentage, as in maxSurge and maxUnavailable.
import { invalid, type FieldError } from '../../schema/validation/field-error.ts'

const percent = /^[0-9]+%$/

export function validateCountOrPercent(value: number | string, path: string): FieldError[] {
  if (typeof value === 'number') return value < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : []
  return percent.test(value)
    ? []
    : [
        invalid(
          path,
          value,
          "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
        ),
      ]
}

/** The number that the value means, of `total`. */
export function resolveCount(value: number | string, total: number, rounding: 'up' | 'down'): number {
  if (typeof value === 'number') return value
  const exact = (Number.parseInt(value, 10) * total) / 100
  return rounding === 'up' ? Math.ceil(exact) : Math.floor(exact)
}
