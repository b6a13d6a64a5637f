// jsonCopy: copies a value as JSON.parse(JSON.stringify(value)) would, without the text.
import { setOwn } from './lookup.ts'

/** Undefined fields are omitted and `toJSON` is called, as JSON.stringify does. */
export function jsonCopy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => jsonCopy(item) ?? null)
  if ('toJSON' in value && typeof value.toJSON === 'function') return jsonCopy(value.toJSON())
  const copy: Record<string, unknown> = {}
  for (const [name, part] of Object.entries(value)) {
    const copied = jsonCopy(part)
    if (copied !== undefined && typeof copied !== 'function') setOwn(copy, name, copied)
  }
  return copy
}
