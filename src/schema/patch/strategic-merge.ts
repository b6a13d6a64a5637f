// Strategic merge patch: a JSON merge patch that uses the type's list strategies and merge keys. Directives in the patch
// express what a plain patch cannot: delete, replace, retain keys, set the order.
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { firstIndexes, mergedOrder } from './element-order.ts'
import type { Field, Message, Type } from '../descriptor/field.ts'
import { identityOf, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts'
import { jsonText } from '../json/exact-json.ts'

export class StrategicMergeError extends Error {
  override name = 'StrategicMergeError'
}

type Mutable = Record<string, JsonValue | undefined>

const orderPrefix = '$setElementOrder/'
const deletePrefix = '$deleteFromPrimitiveList/'

export const strategicMerge = (message: Message, target: JsonObject, patch: JsonObject): JsonObject =>
  mergeObjects(message, target, patch)

/** A name that every object inherits is not a field. */
const fieldOf = (message: Message | undefined, name: string): Field | undefined => lookup(message?.fields, name)

/** A message is merged by its fields; a map or JSON of any form has none and is merged by its entries. */
function mergeObjects(message: Message | undefined, target: JsonObject, patch: JsonObject): JsonObject {
  const directive = patch['$patch']
  if (directive === 'replace') return withoutKey(patch, '$patch')
  if (directive === 'delete') return {}
  if (directive !== undefined) throw unknownDirective(directive, patch)
  if (isSaid(target, patch)) return target
  const merged: Mutable = retained(target, patch)
  let isOrdered = false
  for (const name in patch) {
    const change = patch[name]
    if (change === undefined || name === '$retainKeys') continue
    if (name.startsWith(orderPrefix)) isOrdered = true
    else if (name.startsWith(deletePrefix)) deleteItems(merged, name.slice(deletePrefix.length), change)
    else mergeProperty(fieldOf(message, name), merged, name, change)
  }
  if (isOrdered)
    for (const name in patch)
      if (name.startsWith(orderPrefix)) orderItems(message, target, merged, patch, name.slice(orderPrefix.length))
  return merged
}

/** Whether the patch only repeats what the target has, such as its uid: then the target is returned unchanged. */
function isSaid(target: JsonObject, patch: JsonObject): boolean {
  for (const name in patch) {
    const change = patch[name]
    if (change !== undefined && (typeof change === 'object' || change !== lookup(target, name))) return false
  }
  return true
}

function mergeProperty(field: Field | undefined, merged: Mutable, name: string, change: JsonValue): void {
  const own = lookup(merged, name)
  if (change === null) return void delete merged[name]
  if (isJsonObject(own) && isJsonObject(change))
    setOwn(merged, name, field?.patch === 'replace' ? change : mergeObjects(messageOf(field?.type), own, change))
  else if (Array.isArray(own) && Array.isArray(change)) setOwn(merged, name, mergeLists(field, own, change))
  else {
    const value = taken(change)
    if (value === undefined) delete merged[name]
    else setOwn(merged, name, value)
  }
}

const messageOf = (type: Type | undefined): Message | undefined =>
  typeof type === 'object' && type.kind === 'message' ? type : undefined

const elementOf = (type: Type | undefined): Type | undefined =>
  typeof type === 'object' && type.kind === 'list' ? type.element : undefined

const merges = (field: Field | undefined): boolean =>
  field?.patch === 'merge' || (field?.patch?.split(',').includes('merge') ?? false)

/**
 * A value without a counterpart in the target: its nulls and directives are removed. Undefined when nothing is left; the value
 * itself when nothing is removed.
 */
function taken(change: JsonValue): JsonValue | undefined {
  if (Array.isArray(change)) return takenItems(change)
  if (!isJsonObject(change)) return change
  if ('$patch' in change) return undefined
  let value: Record<string, JsonValue> | undefined
  for (const name in change) {
    const item = change[name]
    const inner = item === null || item === undefined ? undefined : taken(item)
    if (inner !== item) value ??= fieldsBefore(change, name)
    if (value !== undefined && inner !== undefined) setOwn(value, name, inner)
  }
  return value ?? change
}

function fieldsBefore(object: JsonObject, end: string): Record<string, JsonValue> {
  const fields: Record<string, JsonValue> = {}
  for (const name in object) {
    if (name === end) break
    setOwn(fields, name, object[name] ?? null)
  }
  return fields
}

function takenItems(change: readonly JsonValue[]): readonly JsonValue[] {
  const items = change.map(taken)
  return items.every((item, index) => item === change[index]) ? change : items.filter((item) => item !== undefined)
}

function retained(target: JsonObject, patch: JsonObject): Mutable {
  const keys = patch['$retainKeys']
  if (keys === undefined) return { ...target }
  if (!Array.isArray(keys)) throw new StrategicMergeError('invalid patch format of retainKeys')
  const kept = new Set<JsonValue>(keys)
  const isUnnamed = (name: string) => lookup(patch, name) !== null && !name.startsWith('$') && !kept.has(name)
  if (Object.keys(patch).some(isUnnamed)) throw new StrategicMergeError('invalid patch format of retainKeys')
  return Object.fromEntries(Object.entries(target).filter(([name]) => kept.has(name)))
}

function deleteItems(merged: Mutable, name: string, gone: JsonValue): void {
  const items = lookup(merged, name)
  if (!Array.isArray(gone)) throw new StrategicMergeError('invalid patch format of primitive list')
  if (!Array.isArray(items)) return
  const identities = new Set(gone.map(identityOf))
  setOwn(
    merged,
    name,
    items.filter((item: JsonValue) => !identities.has(identityOf(item))),
  )
}

function mergeLists(
  field: Field | undefined,
  own: readonly JsonValue[],
  change: readonly JsonValue[],
): readonly JsonValue[] {
  if (!merges(field)) return change
  const isKeyed = own.some(isJsonObject) || change.some(isJsonObject)
  const key = isKeyed ? field?.mergeKey : ''
  if (key === undefined) throw new StrategicMergeError('cannot merge lists without merge key')
  if (key === '') {
    const unique = new Map<unknown, JsonValue>()
    for (const item of [...own, ...change]) getOrInsert(unique, identityOf(item), () => item)
    return mergedOrder([...unique.values()], change, own, '')
  }
  const { base, rest } = withDirectives(own, change, key)
  return mergedOrder(mergeByKey(messageOf(elementOf(field?.type)), base, rest, key), rest, base, key)
}

function mergeByKey(
  element: Message | undefined,
  base: readonly JsonValue[],
  rest: readonly JsonObject[],
  key: string,
): JsonValue[] {
  const merged = [...base]
  const places = new Map<unknown, number>()
  const note = (item: JsonValue, index: number): void => {
    if (isJsonObject(item)) getOrInsert(places, identityOf(lookup(item, key)), () => index)
  }
  base.forEach(note)
  for (const item of rest) {
    const index = places.get(identityOf(lookup(item, key))) ?? merged.length
    const held = merged[index]
    merged[index] = isJsonObject(held) ? mergeObjects(element, held, item) : (taken(item) ?? {})
    note(merged[index], index)
  }
  return merged
}

/** The list that the other items are merged into, after the directives have been applied. */
function withDirectives(
  own: readonly JsonValue[],
  change: readonly JsonValue[],
  key: string,
): { base: readonly JsonValue[]; rest: readonly JsonObject[] } {
  const gone = new Set<unknown>()
  let isReplaced = false
  const rest: JsonObject[] = []
  for (const item of change) {
    if (!isJsonObject(item)) throw new StrategicMergeError(`a list of objects cannot be merged with ${String(item)}`)
    const directive = item['$patch']
    if (directive === 'replace') isReplaced = true
    else if (directive !== undefined && directive !== 'delete') throw unknownDirective(directive, item)
    else if (lookup(item, key) === undefined)
      throw new StrategicMergeError(`map: ${jsonText(item)} does not contain declared merge key: ${key}`)
    else if (directive === 'delete') gone.add(identityOf(lookup(item, key)))
    else rest.push(item)
  }
  if (isReplaced) return { base: rest, rest: [] }
  return { base: own.filter((item) => !isJsonObject(item) || !gone.has(identityOf(lookup(item, key)))), rest }
}

function orderItems(
  message: Message | undefined,
  target: JsonObject,
  merged: Mutable,
  patch: JsonObject,
  name: string,
): void {
  const order = lookup(patch, orderPrefix + name)
  const items = lookup(merged, name)
  if (!Array.isArray(order)) throw new StrategicMergeError('invalid patch format of setElementOrder list')
  if (!Array.isArray(items)) return
  const key = fieldOf(message, name)?.mergeKey ?? ''
  checkOrder(lookup(patch, name), order, key)
  const before = lookup(target, name)
  setOwn(merged, name, mergedOrder(items, order, Array.isArray(before) ? before : [], key))
}

/** The items of the patch must be in the order that it requests. */
function checkOrder(change: JsonValue | undefined, order: readonly JsonValue[], key: string): void {
  if (!Array.isArray(change)) return
  const placeOf = firstIndexes(order, (item) => (isJsonObject(item) ? lookup(item, key) : item))
  let place = -1
  for (const item of change) {
    if (isJsonObject(item) && '$patch' in item) continue
    const next = placeOf(item)
    if (next < place || next < 0)
      throw new StrategicMergeError(
        `The order in patch list:\n${jsonText(change)}\n doesn't match $setElementOrder list:\n${jsonText(order)}\n`,
      )
    place = next
  }
}

function withoutKey(object: JsonObject, key: string): JsonObject {
  const { [key]: _, ...rest } = object
  return rest
}

const unknownDirective = (directive: JsonValue, patch: JsonObject): StrategicMergeError =>
  new StrategicMergeError(`Unknown patch type ${jsonText(directive)} in ${jsonText(patch)}`)
