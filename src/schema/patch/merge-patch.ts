// JSON merge patch (RFC 7386): null removes, objects are merged, everything else is replaced.
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts'

export function mergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return patch
  const merged: Record<string, JsonValue | undefined> = isJsonObject(target) ? { ...target } : {}
  for (const name in patch) {
    const change = patch[name]
    if (change === undefined) continue
    if (change === null) delete merged[name]
    else setOwn(merged, name, mergePatch(lookup(merged, name), change))
  }
  return merged satisfies JsonObject
}
