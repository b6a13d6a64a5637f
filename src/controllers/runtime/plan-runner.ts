// planRunner: wakes a key when its object, what it owns or what it reads changes; claims, plans, and applies the plan.
import { controllerOf, keyOf, namespaceOf, objectKey, type ApiObject, type ObjectKey } from '../../api/meta/object.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Context } from '../../base/observability/context.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import { byNamespace, byOwnerUid, type ObjectChange as Seen, type Informer } from '../../client/informer/informer.ts'
import { runChanges } from './change-runner.ts'
import { byOrphanNamespace, ownershipPatches, type OwnershipPatch } from './adoption.ts'
import type { Change, Plan, PlanController, PlanView } from './controller.ts'
import { Expectations } from './expectations.ts'
import type { Runner, RunnerDeps } from './runner.ts'

/** An expectation that nothing fulfils is looked at again: the write may have been undone meanwhile. */
const expectationMs = 1000

const ownerIndex = 'owner'
const orphanIndex = 'orphan'
const namespaceIndex = 'namespace'

export function planRunner(controller: PlanController, deps: RunnerDeps): Runner {
  const { informers, queue, client, clock, events } = deps
  const expectations = new Expectations()
  const kept = new Map<string, { readonly uid: string; readonly what: unknown }>()
  /** Objects that have gone and whose leftovers have not been looked at. */
  const gone = new Map<string, ApiObject>()
  const informer = informers.of(controller.reconciles)
  const informerOf = (kind: Kind): Informer => informers.of(kind)
  const caches: Omit<PlanView, 'owned' | 'nowMs' | 'state'> = {
    find: <T extends ApiObject>(kind: Kind<T>, key: ObjectKey) => informers.of(kind).get(key),
    all: <T extends ApiObject>(kind: Kind<T>) => [...informers.of(kind).all()],
    within: <T extends ApiObject>(kind: Kind<T>, namespace: string) =>
      informers.of(kind).byIndex(namespaceIndex, namespace),
  }

  informer.addIndex(namespaceIndex, byNamespace)
  informer.onChange(({ key, now, before, cause }) => {
    const { concerns } = controller
    if (now === undefined && before !== undefined && controller.leftovers !== undefined) gone.set(key, before)
    if (concerns === undefined || (now && concerns(now)) || (before && concerns(before))) queue.add(key, cause)
  })
  for (const kind of controller.owns) {
    const owned = informerOf(kind)
    owned.addIndex(ownerIndex, byOwnerUid)
    if (controller.claims !== undefined) owned.addIndex(orphanIndex, byOrphanNamespace)
    owned.onChange((change) => {
      for (const key of ownersOf(change)) queue.add(key, change.cause)
    })
  }
  for (const { kind, enqueues: wakes } of controller.watches ?? []) {
    const read = informerOf(kind)
    read.addIndex(namespaceIndex, byNamespace)
    read.onChange((change) => {
      for (const key of wakes(change, caches)) queue.add(key, change.cause)
    })
  }

  /** The keys of those who own it, owned it, or may adopt it. */
  function ownersOf({ now, before }: Seen<ApiObject>): Set<ObjectKey> {
    const { kind, apiVersion, namespaced } = controller.reconciles
    const keys = new Set<ObjectKey>()
    for (const object of [now, before]) {
      const owner = object === undefined ? undefined : controllerOf(object)
      if (object !== undefined && owner?.kind === kind && owner.apiVersion === apiVersion)
        keys.add(objectKey(namespaced ? namespaceOf(object) : '', owner.name))
    }
    if (controller.claims === undefined || now === undefined || controllerOf(now) !== undefined) return keys
    for (const owner of informer.byIndex(namespaceIndex, namespaceOf(now)))
      if (controller.claims(owner, now)) keys.add(keyOf(owner))
    return keys
  }

  const ownedBy = (object: ApiObject, kind: Kind): ApiObject[] =>
    informerOf(kind)
      .byIndex(ownerIndex, object.metadata.uid)
      .filter((candidate) => controllerOf(candidate)?.uid === object.metadata.uid)

  function claimsFor(object: ApiObject): { kind: Kind; claim: OwnershipPatch }[] {
    const { claims } = controller
    if (claims === undefined) return []
    return controller.owns.flatMap((kind) =>
      ownershipPatches(
        object,
        ownedBy(object, kind),
        informerOf(kind).byIndex(orphanIndex, namespaceOf(object)),
        (candidate) => claims(object, candidate),
      ).map((claim) => ({ kind, claim })),
    )
  }

  /** Takes over and lets go; the next turn plans with what came of it. */
  async function settleClaims(
    key: string,
    object: ApiObject,
    claims: readonly { kind: Kind; claim: OwnershipPatch }[],
    context: Context,
  ): Promise<void> {
    if (claims.some(({ claim }) => claim.kind === 'adopt')) {
      // The cache may lag: an owner that is gone or going must not adopt.
      const { name } = object.metadata
      const live = await client.of(controller.reconciles).find(name, namespaceOf(object), context)
      if (live?.metadata.uid !== object.metadata.uid || live.metadata.deletionTimestamp !== undefined) return
    }
    for (const { kind, claim } of claims) {
      const { name } = claim.object.metadata
      try {
        const made = await client.of(kind).patch(name, namespaceOf(claim.object), claim.patch, 'strategic', context)
        expectations.expect(key, { informer: informerOf(kind), object: made, kind: 'written' })
      } catch (error) {
        if (!hasReason(error, 'NotFound')) throw error
      }
    }
  }

  const expect = (key: string) => (change: Change, made: ApiObject) =>
    expectations.expect(key, {
      informer: informerOf(change.of),
      object: made,
      kind: change.kind === 'delete' ? 'deleted' : 'written',
    })

  async function applyStatus(key: string, object: ApiObject, plan: Plan, failure: Error | undefined, context: Context) {
    const status = failure === undefined ? plan.status : (plan.statusOnFailure?.(failure) ?? plan.status)
    if (status === undefined || equalValues(status, (object as { status?: unknown }).status, true)) return
    // A plan that also changes the object itself writes the status on its next turn, on the new version.
    if (plan.changes.some(({ kind, object: changed }) => kind === 'update' && uidOf(changed) === object.metadata.uid))
      return
    const made = await client.of(controller.reconciles).updateStatus({ ...object, status } as ApiObject, context)
    expectations.expect(key, { informer, object: made, kind: 'written' })
  }

  async function removeLeftovers(key: ObjectKey, context: Context): Promise<void> {
    const changes = controller.leftovers?.(key, caches, gone.get(key)) ?? []
    for (const change of changes) {
      const failure = await runChanges(change.object, [change], { client, events, expect: () => {} }, context)
      if (failure !== undefined) throw failure
    }
    gone.delete(key)
  }

  return {
    async run(key, context, later) {
      const object = informer.get(key)
      if (object === undefined) {
        kept.delete(key)
        expectations.forget(key)
        return removeLeftovers(key, context)
      }
      gone.delete(key)
      if (!expectations.areMet(key)) return later(expectationMs)
      const claims = claimsFor(object)
      if (claims.length > 0) {
        await settleClaims(key, object, claims, context)
        return later(expectationMs)
      }
      const { uid } = object.metadata
      const known = kept.get(key)
      const plan = controller.plan(object, {
        ...caches,
        nowMs: clock.nowMs(),
        state: known?.uid === uid ? known.what : undefined,
        owned: <T extends ApiObject>(kind: Kind<T>, by: ApiObject = object): T[] =>
          ownedBy(by, kind).toSorted(byName) as unknown as T[],
      })
      if (plan.nextState === undefined) kept.delete(key)
      else kept.set(key, { uid, what: plan.nextState })
      const failure = await runChanges(object, plan.changes, { client, events, expect: expect(key) }, context)
      await applyStatus(key, object, plan, failure, context)
      for (const note of plan.events ?? []) events.record(object, note, context)
      if (failure !== undefined) throw failure
      if (plan.requeueAfterMs !== undefined) later(plan.requeueAfterMs)
    },
  }
}

const uidOf = (object: object): string | undefined => (object as Partial<ApiObject>).metadata?.uid
const byName = (a: ApiObject, b: ApiObject): number => (a.metadata.name < b.metadata.name ? -1 : 1)
