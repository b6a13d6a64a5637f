// sortedJson: JSON as Go encodes a map: names are sorted, and characters that are special in HTML are escaped.
import { goJson } from './go-json.ts'
import { isJsonObject, type JsonValue } from '../json/json-value.ts'

export function sortedJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`
  if (!isJsonObject(value)) return goJson(value)
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, item]) => `${goJson(name)}:${sortedJson(item ?? null)}`).join(',')}}`
}
