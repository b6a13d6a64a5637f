// Strategic merge patch: JSON merge patch that knows the lists of a type: which merge, and by which key.
import type { Field, Message, Type } from './field.ts'
import { equalValues, isJsonObject, type JsonObject, type JsonValue } from './json-value.ts'
import { mergePatch } from './merge-patch.ts'

export class StrategicMergeError extends Error {
  override name = 'StrategicMergeError'
}

type Mutable = Record<string, JsonValue | undefined>

export function strategicMerge(message: Message, target: JsonObject, patch: JsonObject): JsonObject {
  if (patch['$patch'] === 'replace') return withoutDirectives(patch)
  if (patch['$patch'] === 'delete') return {}
  const merged: Mutable = { ...target }
  retainKeys(merged, patch)
  for (const name in patch) {
    if (name.startsWith('$')) continue
    const change = patch[name]
    if (change === undefined) continue
    if (change === null) delete merged[name]
    else merged[name] = mergeField(message.fields[name], merged[name], change, patch[`$setElementOrder/${name}`])
  }
  for (const name in patch) applyListDirective(message, merged, patch, name)
  return merged
}

function mergeField(
  field: Field | undefined,
  target: JsonValue | undefined,
  change: JsonValue,
  order: JsonValue | undefined,
): JsonValue {
  if (field === undefined) return mergePatch(target, change)
  return mergeType(field.type, field, target, change, order)
}

function mergeType(
  type: Type,
  field: Field,
  target: JsonValue | undefined,
  change: JsonValue,
  order: JsonValue | undefined,
): JsonValue {
  if (typeof type === 'string')
    return type === 'fieldsV1' || type === 'rawExtension' || type === 'json' ? mergePatch(target, change) : change
  switch (type.kind) {
    case 'message':
      if (!isJsonObject(change)) return change
      return strategicMerge(type, isJsonObject(target) ? target : {}, change)
    case 'map':
      return mergePatch(target, change)
    case 'list':
      if (!Array.isArray(change)) return change
      if (!field.patch?.includes('merge')) return withoutListDirectives(change)
      return mergeList(type.element, field.mergeKey, asList(target), change, Array.isArray(order) ? order : undefined)
    default:
      return type satisfies never
  }
}

function mergeList(
  element: Type,
  key: string | undefined,
  target: readonly JsonValue[],
  change: readonly JsonValue[],
  order: readonly JsonValue[] | undefined,
): JsonValue {
  if (typeof element === 'string' || key === undefined) {
    const united = [...target, ...change.filter((item) => !target.some((other) => equalValues(item, other)))]
    return order === undefined ? united : ordered(united, order, (item) => item)
  }
  if (change.some((item) => isJsonObject(item) && item['$patch'] === 'replace'))
    return change
      .filter((item) => !(isJsonObject(item) && item['$patch'] === 'replace'))
      .map((item) => withoutDirectives(item as JsonObject))
  let merged = [...target]
  for (const item of change) {
    if (!isJsonObject(item)) continue
    const id = item[key]
    if (id === undefined)
      throw new StrategicMergeError(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`)
    const isSame = (other: JsonValue) => isJsonObject(other) && equalValues(other[key], id)
    if (item['$patch'] === 'delete') {
      merged = merged.filter((other) => !isSame(other))
      continue
    }
    const index = merged.findIndex(isSame)
    const message = element as Message
    if (index < 0) merged.push(strategicMerge(message, {}, item))
    else merged[index] = strategicMerge(message, merged[index] as JsonObject, item)
  }
  return order === undefined ? merged : ordered(merged, order, (item) => (isJsonObject(item) ? item[key] : item), key)
}

// Elements named in the order come in that order; the others keep their place behind the element they followed.
function ordered(
  items: readonly JsonValue[],
  order: readonly JsonValue[],
  idOf: (item: JsonValue) => JsonValue | undefined,
  key?: string,
): JsonValue[] {
  const ids = order.map((entry) => (key !== undefined && isJsonObject(entry) ? entry[key] : entry))
  const rank = (item: JsonValue) => ids.findIndex((id) => equalValues(id, idOf(item)))
  const named = items.filter((item) => rank(item) >= 0).toSorted((a, b) => rank(a) - rank(b))
  const result = [...named]
  for (const [index, item] of items.entries()) {
    if (rank(item) >= 0) continue
    const before = items[index - 1]
    const at = before === undefined ? 0 : result.indexOf(before) + 1
    result.splice(at, 0, item)
  }
  return result
}

function applyListDirective(message: Message, merged: Mutable, patch: JsonObject, name: string): void {
  const [directive = '', field = ''] = name.split('/')
  const value = patch[name]
  if (!Array.isArray(value)) return
  if (directive === '$deleteFromPrimitiveList')
    merged[field] = asList(merged[field]).filter((item) => !value.some((gone) => equalValues(gone, item)))
  if (directive === '$setElementOrder' && patch[field] === undefined && merged[field] !== undefined) {
    const key = message.fields[field]?.mergeKey
    merged[field] = ordered(
      asList(merged[field]),
      value,
      (item) => (key !== undefined && isJsonObject(item) ? item[key] : item),
      key,
    )
  }
}

function retainKeys(merged: Mutable, patch: JsonObject): void {
  const keys = patch['$retainKeys']
  if (!Array.isArray(keys)) return
  for (const name of Object.keys(merged)) if (!keys.includes(name)) delete merged[name]
}

const asList = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : [])

function withoutDirectives(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !name.startsWith('$')))
}

const withoutListDirectives = (items: readonly JsonValue[]): JsonValue =>
  items
    .filter((item) => !(isJsonObject(item) && item['$patch'] === 'replace'))
    .map((item) => (isJsonObject(item) ? withoutDirectives(item) : item))
