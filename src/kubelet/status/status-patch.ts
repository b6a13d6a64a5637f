// statusPatch: the change of a pod's status as a strategic merge patch. Conditions are patched individually, so that
// those which other clients set at the same time are kept.
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import { podStatus as podStatusMessage, type PodCondition, type PodStatus } from '../../api/core/v1/pod/pod-status.ts'
import { equalValues, isJsonObject, type JsonObject, type JsonValue } from '../../schema/json/json-value.ts'

/** Conditions that only the kubelet sets, so it removes them, too. */
export const ownConditions: ReadonlySet<string> = new Set([
  'AllContainersRestarting',
  'ContainersReady',
  'Initialized',
  'PodReadyToStartContainers',
  'PodResizeInProgress',
  'PodResizePending',
  'PodScheduled',
  'Ready',
])

export function statusPatch(before: PodStatus, after: PodStatus): JsonObject {
  const patch: Record<string, JsonValue> = conditionsPatch(before.conditions ?? [], after.conditions ?? [])
  const [had, has] = [before, after] as unknown as readonly [JsonObject, JsonObject]
  for (const name of new Set([...Object.keys(had), ...Object.keys(has)]))
    if (name !== 'conditions' && !equalValues(lookup(had, name), lookup(has, name), true))
      setOwn(patch, name, fieldPatch(name, had, has))
  return patch
}

/** Replaces the whole field: lists and objects that would be merged get a `$patch: replace` directive. */
function fieldPatch(name: string, had: JsonObject, has: JsonObject): JsonValue {
  const value = lookup(has, name) ?? null
  if (lookup(had, name) === undefined) return value
  if (isJsonObject(value)) return { ...value, $patch: 'replace' }
  const merges = podStatusMessage.fields[name as keyof typeof podStatusMessage.fields].patch?.includes('merge')
  return Array.isArray(value) && merges === true ? [{ $patch: 'replace' }, ...value] : value
}

function conditionsPatch(before: readonly PodCondition[], after: readonly PodCondition[]): Record<string, JsonValue> {
  const changed: JsonObject[] = []
  let isOrdered = true
  for (const condition of after) {
    const old = before.find(({ type }) => type === condition.type)
    if (old === undefined) isOrdered = false
    if (!equalValues(old, condition, true)) changed.push({ ...goneFields(old, condition), ...condition })
  }
  for (const { type } of before)
    if (ownConditions.has(type) && !after.some((condition) => condition.type === type))
      changed.push({ type, $patch: 'delete' })
  if (changed.length === 0) return {}
  const order = isOrdered ? {} : { '$setElementOrder/conditions': after.map(({ type }) => ({ type })) }
  return { conditions: changed, ...order }
}

const goneFields = (old: PodCondition | undefined, now: PodCondition): JsonObject =>
  Object.fromEntries(Object.keys(old ?? {}).flatMap((name) => (Object.hasOwn(now, name) ? [] : [[name, null]])))
