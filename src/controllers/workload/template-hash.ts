// Template hash: FNV-1a of the canonical JSON, in the alphabet of generated names.
import { safeEncoded } from '../../base/random/ids.ts'
import { withSortedKeys, type JsonValue } from '../../schema/json/json-value.ts'
import { jsonText } from '../../schema/json/exact-json.ts'

/** `collisionCount` changes the hash of the same template, for when another object has the name. */
export function templateHash(template: unknown, collisionCount = 0): string {
  let hash = 0x811c9dc5
  const text = canonical(template) + (collisionCount === 0 ? '' : String(collisionCount))
  for (const byte of new TextEncoder().encode(text)) {
    hash ^= byte
    hash = Math.imul(hash, 0x01000193) >>> 0
  }
  return safeEncoded(String(hash))
}

const canonical = (value: unknown): string => jsonText(withSortedKeys(value as JsonValue))
