// ResourceQuota: counts anew what a namespace uses, when a quota is made or changed and when what it counts goes or
// shrinks. What is made and what grows is charged by admission, in the commit that writes it.
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

/** Many deletions at once are counted once. */
const recountMs = 100
/** What time alone changes is found then: a pod whose end is overdue, a status that somebody else wrote. */
const resyncMs = 300_000

const quotaKind = resourceQuota as unknown as Kind
/** Events are nobody's use. */
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
  /** When each quota was counted last. */
  state: () => ({ countedMs: new Map<string, number>() }),
  enqueues(kind, { key, now, before }, { byIndex: members, nowMs }) {
    const own = kind === quotaKind && now !== undefined && isStale(now as ResourceQuota, before) ? [key] : []
    // What is new was charged when it was made.
    if (before === undefined) return own
    const freed = members(quotasByNamespace, namespaceOf(before)).filter(
      (quota) => !equalAmounts(chargeOf(quota, kind, before, nowMs), chargeOf(quota, kind, now, nowMs)),
    )
    return [...own, ...freed.map(keyOf)]
  },
  async reconcile(key, { client, cached, state: memory, nowMs }, context) {
    const quota = cached(resourceQuota, key)
    if (quota === undefined || isBeingDeleted(quota)) {
      memory.countedMs.delete(key)
      return undefined
    }
    const waitMs = isComplete(quota) ? (memory.countedMs.get(key) ?? -Infinity) + recountMs - nowMs : 0
    if (waitMs > 0) return waitMs
    memory.countedMs.set(key, nowMs)
    try {
      await recount(quota, client, nowMs, context)
    } catch (error) {
      // Admission charged it meanwhile, and has counted what we have not: the next look does.
      if (hasReason(error, 'Conflict')) return recountMs
      throw error
    }
    return resyncMs
  },
})

/** A quota that is new to us, or whose status does not answer its spec. What admission charges is no reason. */
const isStale = (quota: ResourceQuota, before: ApiObject | undefined): boolean =>
  before === undefined || !isComplete(quota)

const isComplete = ({ spec: { hard = {} }, status }: ResourceQuota): boolean =>
  equalAmounts(status.hard ?? {}, hard) && countable(hard).every((name) => Object.hasOwn(status.used ?? {}, name))

/** The resources of a quota that anything can count for. */
const countable = (hard: QuotaAmounts): string[] =>
  Object.keys(hard).filter((name) => countedKinds.some((kind) => usesQuotaOf(kind, name)))

function chargeOf(quota: ResourceQuota, kind: Kind, object: ApiObject | undefined, nowMs: number): QuotaAmounts {
  if (object === undefined || !matchesQuotaScopes(quota, kind, object)) return {}
  return pickAmounts(quotaUsageOf(kind, object, nowMs), Object.keys(quota.spec.hard ?? {}))
}

/**
 * Counts what lists give, not what caches hold: lists are at least as new as the version of the quota that is replaced,
 * so nothing that was charged to that version is missing. What is charged later makes the replacement a conflict.
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
