// printerCell: the cell of a printer column for the first value that its path selects. A value of another type than the
// column's is null.
import { ageText } from '../../columns/age.ts'
import type { Column } from '../../kind/kind.ts'
import type { ApiObject } from '../../meta/object.ts'
import type { JsonValue } from '../../../schema/json/json-value.ts'
import { goFloat } from '../../../schema/validation/go-float.ts'
import { sortedJson } from '../../../schema/validation/sorted-json.ts'
import { type Int64 } from '../../../schema/scalar/int64.ts'

type ColumnType = Column<ApiObject>['type']

export function printerCell(type: ColumnType, value: JsonValue, nowMs: number): string | Int64 | boolean | null {
  switch (type) {
    case 'integer':
      return typeof value === 'bigint' ? value : typeof value === 'number' ? asInteger(value) : null
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'string':
      return textOf(value)
    case 'date':
      return typeof value === 'string' ? dateText(value, nowMs) : null
    default:
      return type satisfies never
  }
}

const int64Max = 2 ** 63

/** Go limits a conversion to the range of its integers. */
const asInteger = (value: number): number => Math.max(-int64Max, Math.min(int64Max, Math.trunc(value)))

function textOf(value: JsonValue): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
      return Number.isSafeInteger(value) ? String(value) : goFloat(value)
    case 'boolean':
    case 'bigint':
      return String(value)
    default:
      return value === null ? '<no value>' : sortedJson(value)
  }
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/
const zeroTimeMs = Date.parse('0001-01-01T00:00:00Z')

function dateText(text: string, nowMs: number): string {
  const timeMs = rfc3339.test(text) ? Date.parse(text) : Number.NaN
  if (text === '' || timeMs === zeroTimeMs) return '<unknown>'
  return Number.isNaN(timeMs) ? '<invalid>' : ageText(text, nowMs)
}
