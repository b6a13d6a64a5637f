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
import { storedKinds } from '../api/kinds.ts'
import { isBeingDeleted, keyOf, namespaceOf, type ApiObject } from '../api/meta/object.ts'
import { hasReason } from '../api/errors/status-error.ts'
import type { Context } from '../base/observability/context.ts'
import type { Client } from '../client/client.ts'
import { byNamespace } from '../client/informer/informer.ts'
import { defineController, type ObjectIndex } from './runtime/controller.ts'

/** Deletions within this time share one recount. */
const recountMs = 100
/** Finds changes that cause no event: a pod whose termination is overdue, a status that another client wrote. */
const resyncMs = 300_000

const quotaKind = resourceQuota as unknown as Kind
/** Events are not counted. */
const countedKinds = storedKinds.filter(({ namespaced, plural }) => namespaced && plural !== 'events')

const quotasByNamespace: ObjectIndex<ResourceQuota> = {
  kind: resourceQuota,
  name: 'namespace',
  valuesOf: byNamespace,
}

export const resourceQuotaController = defineController({
  name: 'resource-quota',
  account: 'resourcequota-controller',
  watches: countedKinds,
  indexes: [quotasByNamespace as unknown as ObjectIndex],
  /** When each quota was last counted. */
  state: () => ({ countedMs: new Map<string, number>() }),
  enqueues(kind, { key, now, before }, { byIndex, nowMs }) {
    const own = kind === quotaKind && now !== undefined && isStale(now as ResourceQuota, before) ? [key] : []
    // A new object was charged by admission.
    if (before === undefined) return own
    const freed = byIndex(quotasByNamespace, namespaceOf(before)).filter(
      (quota) => !equalAmounts(chargeOf(quota, kind, before, nowMs), chargeOf(quota, kind, now, nowMs)),
    )
    return [...own, ...freed.map(keyOf)]
  },
  async reconcile(key, { client, cached, state, nowMs }, context) {
    const quota = cached(resourceQuota, key)
    if (quota === undefined || isBeingDeleted(quota)) {
      state.countedMs.delete(key)
      return undefined
    }
    const waitMs = isComplete(quota) ? (state.countedMs.get(key) ?? -Infinity) + recountMs - nowMs : 0
    if (waitMs > 0) return waitMs
    state.countedMs.set(key, nowMs)
    try {
      await recount(quota, client, nowMs, context)
    } catch (error) {
      // Admission has charged the quota in the meantime, so the count is stale.
      if (hasReason(error, 'Conflict')) return recountMs
      throw error
    }
    return resyncMs
  },
})

/** A quota that is new, or whose status does not match its spec. Charges of admission are no reason to recount. */
const isStale = (quota: ResourceQuota, before: ApiObject | undefined): boolean =>
  before === undefined || !isComplete(quota)

const isComplete = ({ spec: { hard = {} }, status }: ResourceQuota): boolean =>
  equalAmounts(status.hard ?? {}, hard) && countable(hard).every((name) => Object.hasOwn(status.used ?? {}, name))

/** The resources of a quota that some kind is counted for. */
const countable = (hard: QuotaAmounts): string[] =>
  Object.keys(hard).filter((name) => countedKinds.some((kind) => usesQuotaOf(kind, name)))

function chargeOf(quota: ResourceQuota, kind: Kind, object: ApiObject | undefined, nowMs: number): QuotaAmounts {
  if (object === undefined || !matchesQuotaScopes(quota, kind, object)) return {}
  return pickAmounts(quotaUsageOf(kind, object, nowMs), Object.keys(quota.spec.hard ?? {}))
}

/**
 * Counts from lists, not from caches: a list is at least as new as the version of the quota that is updated, so it
 * contains everything that was charged to that version. A later charge makes the update a conflict.
 */
async function recount(quota: ResourceQuota, client: Client, nowMs: number, context: Context): Promise<void> {
  const { hard = {} } = quota.spec
  const names = countable(hard)
  const counted = countedKinds.filter((kind) => names.some((name) => usesQuotaOf(kind, name)))
  const objects: [Kind, ApiObject][] = []
  for (const kind of counted) {
    const { items } = await client.of(kind).list({ namespace: namespaceOf(quota) }, context)
    for (const object of items) objects.push([kind, object])
  }
  const used = pickAmounts(quotaUsed(quota, objects, nowMs), names)
  const { status } = quota
  if (isComplete(quota) && equalAmounts(used, status.used ?? {})) return
  await client.of(resourceQuota).updateStatus({ ...quota, status: { hard, used } }, context)
}
