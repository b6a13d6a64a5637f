// ResourceQuota: recounts the usage of a namespace when a quota is created or changed, and when a counted object is
// deleted or shrinks. Creations and growth are charged by admission, in the transaction that writes the object.
import {
  equalAmounts,
  pickAmounts,
  quotaUsageOf,
  quotaUsed,
  usesQuotaOf,
  type QuotaAmounts,
} from '../api/core/v1/quota/quota-usage.ts'
import { matchesQuotaScopes } from '../api/core/v1/quota/quota-scopes.ts'
import { resourceQuota, type ResourceQuota } from '../api/core/v1/quota/resource-quota.ts'
import type { Kind } from '../api/kind/kind.ts'
import {
  customResourceDefinition,
  isEstablished,
  type CustomResourceDefinition,
} from '../api/apiextensions/v1/custom-resource-definition.ts'
import { kinds, storedKinds } from '../api/kinds.ts'
import { isBeingDeleted, keyOf, namespaceOf, type ApiObject } from '../api/meta/object.ts'
import { hasReason } from '../api/errors/status-error.ts'
import type { Context } from '../base/observability/context.ts'
import type { Client } from '../client/client.ts'
import { byNamespace } from '../client/informer/informer.ts'
import type { ServedKind } from '../client/discovery.ts'
import { defineController, type ObjectIndex, type ReconcileTools } from './runtime/controller.ts'

/** Deletions within this time share one recount. */
const recountMs = 100
/** Finds changes that cause no event: a pod whose termination is overdue, a status that another client wrote. */
const resyncMs = 300_000
/** An object that was admitted before its quota was known, and stored after the count, has not been charged. */
const youngMs = 60_000
const youngResyncMs = 10_000
/** How soon a resource is looked for that is served but not discovered yet. */
const discoveryMs = 1_000

const quotaKind = resourceQuota as unknown as Kind
/** Events are not counted. */
const builtInKinds = storedKinds.filter(({ namespaced, plural }) => namespaced && plural !== 'events')

/** Custom resources. Their objects are only counted, so their metadata is enough. */
const isCustom = ({ kind, verbs, isPreferred }: ServedKind): boolean =>
  isPreferred &&
  kind.namespaced &&
  !allBuiltIn.has(kind) &&
  ['create', 'delete', 'list', 'watch'].every((verb) => verbs.includes(verb))
const allBuiltIn: ReadonlySet<Kind> = new Set(kinds)
const definitionKind = customResourceDefinition as unknown as Kind

const quotasByNamespace: ObjectIndex<ResourceQuota> = {
  kind: resourceQuota,
  name: 'namespace',
  valuesOf: byNamespace,
}

export const resourceQuotaController = defineController({
  name: 'resource-quota',
  account: 'resourcequota-controller',
  watches: [...builtInKinds, definitionKind],
  watchesDiscovered: isCustom,
  indexes: [quotasByNamespace as unknown as ObjectIndex],
  /** When each quota was last counted. */
  state: () => ({ countedMs: new Map<string, number>() }),
  enqueues(kind, { key, now, before }, { byIndex, all, discovered, nowMs }) {
    // The resource of a definition appears or disappears.
    if (kind === definitionKind) return [...all(resourceQuota)].filter((quota) => names(quota, key)).map(keyOf)
    const isStaleQuota = kind === quotaKind && now !== undefined && isStale(now as ResourceQuota, before, discovered)
    const own = isStaleQuota ? [key] : []
    // A new object was charged by admission.
    if (before === undefined) return own
    const freed = byIndex(quotasByNamespace, namespaceOf(before)).filter(
      (quota) => !equalAmounts(chargeOf(quota, kind, before, nowMs), chargeOf(quota, kind, now, nowMs)),
    )
    return [...own, ...freed.map(keyOf)]
  },
  async reconcile(key, { client, cached, all, discovered, state, nowMs }, context) {
    const quota = cached(resourceQuota, key)
    if (quota === undefined || isBeingDeleted(quota)) {
      state.countedMs.delete(key)
      return undefined
    }
    const waitMs = isComplete(quota, discovered) ? (state.countedMs.get(key) ?? -Infinity) + recountMs - nowMs : 0
    if (waitMs > 0) return waitMs
    state.countedMs.set(key, nowMs)
    try {
      await recount(quota, client, discovered, nowMs, context)
    } catch (error) {
      // Admission has charged the quota in the meantime, so the count is stale.
      if (hasReason(error, 'Conflict')) return recountMs
      throw error
    }
    if (isAwaited(quota, all(customResourceDefinition), discovered)) return discoveryMs
    return nowMs - Date.parse(quota.metadata.creationTimestamp) < youngMs ? youngResyncMs : resyncMs
  },
})

/** A quota that is new, or whose status does not match its spec. Charges of admission are no reason to recount. */
const isStale = (quota: ResourceQuota, before: ApiObject | undefined, discovered: Discovered): boolean =>
  before === undefined || !isComplete(quota, discovered)

/** Whether the status has an amount for every resource that can be counted, and for no other. */
function isComplete({ spec: { hard = {} }, status }: ResourceQuota, discovered: Discovered): boolean {
  const counted = countable(hard, discovered)
  const { used = {} } = status
  return (
    equalAmounts(status.hard ?? {}, hard) &&
    Object.keys(used).length === counted.length &&
    counted.every((name) => Object.hasOwn(used, name))
  )
}

type Discovered = ReconcileTools['discovered']

const countPrefix = 'count/'

/** The custom kind whose objects the resource of a quota counts. */
const customCounted = (name: string, discovered: Discovered): Kind | undefined =>
  name.startsWith(countPrefix) ? discovered.resource(name.slice(countPrefix.length)) : undefined

/** Whether the quota counts the objects of a definition. */
const names = ({ spec }: ResourceQuota, definition: string): boolean =>
  Object.hasOwn(spec.hard ?? {}, countPrefix + definition)

/** Whether a resource that the quota counts is served, but not discovered yet. */
function isAwaited(
  quota: ResourceQuota,
  definitions: Iterable<CustomResourceDefinition>,
  discovered: Discovered,
): boolean {
  for (const definition of definitions) {
    const { name } = definition.metadata
    if (names(quota, name) && isEstablished(definition) && discovered.resource(name) === undefined) return true
  }
  return false
}

/** The resources of a quota that some kind is counted for. */
const countable = (hard: QuotaAmounts, discovered: Discovered): string[] =>
  Object.keys(hard).filter(
    (name) => builtInKinds.some((kind) => usesQuotaOf(kind, name)) || customCounted(name, discovered) !== undefined,
  )

function chargeOf(quota: ResourceQuota, kind: Kind, object: ApiObject | undefined, nowMs: number): QuotaAmounts {
  if (object === undefined || !matchesQuotaScopes(quota, kind, object)) return {}
  return pickAmounts(quotaUsageOf(kind, object, nowMs), Object.keys(quota.spec.hard ?? {}))
}

/**
 * Counts from lists, not from caches: a list is at least as new as the version of the quota that is updated, so it
 * contains everything that was charged to that version. A later charge makes the update a conflict.
 */
async function recount(
  quota: ResourceQuota,
  client: Client,
  discovered: Discovered,
  nowMs: number,
  context: Context,
): Promise<void> {
  const { hard = {} } = quota.spec
  const counted = countable(hard, discovered)
  const objects: [Kind, ApiObject][] = []
  const namespace = namespaceOf(quota)
  for (const kind of builtInKinds.filter((each) => counted.some((name) => usesQuotaOf(each, name)))) {
    const { items } = await client.of(kind).list({ namespace }, context)
    for (const object of items) objects.push([kind, object])
  }
  for (const kind of counted.map((name) => customCounted(name, discovered))) {
    if (kind === undefined) continue
    const { items } = await client.metadataOf(kind).list({ namespace }, context)
    for (const object of items) objects.push([kind, object])
  }
  const used = pickAmounts(quotaUsed(quota, objects, nowMs), counted)
  const { status } = quota
  if (isComplete(quota, discovered) && equalAmounts(used, status.used ?? {})) return
  await client.of(resourceQuota).updateStatus({ ...quota, status: { hard, used } }, context)
}
