// Comparisons in the filters of a JSONPath. Values are comparable if Go gives them the same type.
import type { JsonValue } from '../../../schema/json/json-value.ts'

/** `1` and `1.0` are different types, which their values do not show. */
export class NumberLiteral {
  readonly number: number
  readonly isFloat: boolean

  constructor(number: number, isFloat: boolean) {
    this.number = number
    this.isFloat = isFloat
  }
}

/** What a path can select. */
export type Selected = JsonValue | NumberLiteral

/** Undefined for an unknown operator, or if the values cannot be compared. */
export function compareValues(a: Selected, operator: string, b: Selected): boolean | undefined {
  const type = typeOf(a)
  if (type === undefined || type !== typeOf(b)) return undefined
  const [left, right] = [plainValue(a), plainValue(b)] as [string, string] // or numbers, or booleans
  if (operator === '==') return left === right
  if (operator === '!=') return left !== right
  if (type === 'boolean') return undefined
  switch (operator) {
    case '<':
      return left < right
    case '<=':
      return left <= right
    case '>':
      return left > right
    case '>=':
      return left >= right
    default:
      return undefined
  }
}

function typeOf(value: Selected): 'string' | 'boolean' | 'integer' | 'float' | undefined {
  if (value instanceof NumberLiteral) return value.isFloat ? 'float' : 'integer'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'float'
  return typeof value === 'string' ? 'string' : typeof value === 'boolean' ? 'boolean' : undefined
}

export const plainValue = (value: Selected): JsonValue => (value instanceof NumberLiteral ? value.number : value)
