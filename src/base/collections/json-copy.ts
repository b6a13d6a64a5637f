// jsonCopy: a copy of a value as its JSON would bring it across, without writing the JSON.
import { setOwn } from './lookup.ts'

/** Fields without a value are left out, and objects that say how they are written as JSON (`Date`) are what they say. */
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
