// The enum keyword. Upstream converts a value to the type of each allowed one before it compares them.
import { identityOf, withSortedKeys, type JsonValue } from '../../../../schema/json/json-value.ts'
import { goJson } from '../../../../schema/validation/go-json.ts'
import { notSupported } from '../../../../schema/validation/field-error.ts'
import type { JsonSchemaProps } from '../../schema/json-schema-props.ts'
import type { Check } from './report.ts'

/** Undefined when the schema has no enum. */
export function enumCheck({ enum: allowed }: JsonSchemaProps): Check | undefined {
  if (allowed === undefined || allowed.length === 0) return undefined
  const values = allowed as readonly JsonValue[]
  const ids = new Set(values.map(identityOf))
  return (value, report) => {
    // Upstream has no type to convert null to.
    if (value !== null && (ids.has(identityOf(value)) || (typeof value === 'number' && isConverted(ids, value))))
      return true
    if (report !== undefined) {
      const supported = values.map((each) => (typeof each === 'string' ? each : goJson(withSortedKeys(each))))
      report.add(`one of ${goJson(values)}`, (field) => notSupported(field, shownValue(value), supported))
    }
    return false
  }
}

const shownValue = (value: JsonValue): JsonValue => withSortedKeys(value)

/** Go converts a fraction to the integer below it, and an integer to the character with that code. */
function isConverted(ids: ReadonlySet<unknown>, value: number): boolean {
  const integer = Math.trunc(value)
  if (integer !== value) return ids.has(integer)
  const isCharacter = value >= 0 && value <= 0x10_ff_ff && (value < 0xd8_00 || value > 0xdf_ff)
  return ids.has(identityOf(isCharacter ? String.fromCodePoint(value) : '\uFFFD'))
}
