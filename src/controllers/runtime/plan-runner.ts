// PlanRunner: runs plan controllers. A key is enqueued when its object, an owned object or a watched object changes; then the
// runner adopts and releases, plans, and applies the plan.
import type { Context } from '../../base/observability/context.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { namespaceOf, type ApiObject, type ObjectKey } from '../../api/meta/object.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { byNamespace, type Informer } from '../../client/informer/informer.ts'
import type { Reconcile } from '../../client/reconcile/reconciler.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import { runChanges } from './change-runner.ts'
import type { Change, Plan, PlanController, PlanView } from './controller.ts'
import { Expectations } from './expectations.ts'
import { OwnedObjects, type KindPatch } from './owned-objects.ts'
import { namespaceIndex, planCaches } from './plan-caches.ts'
import type { RunnerDeps } from './runner.ts'

/** A key with unmet expectations is processed again after this time: the write may have been undone by another client. */
const expectationMs = 1000

export function planRunner(controller: PlanController, deps: RunnerDeps): Reconcile {
  const runner = new PlanRunner(controller, deps)
  return (key, context) => runner.run(key, context)
}

class PlanRunner {
  readonly #controller: PlanController
  readonly #deps: RunnerDeps
  readonly #informer: Informer
  readonly #caches: ReturnType<typeof planCaches>
  readonly #owned: OwnedObjects
  readonly #expectations = new Expectations()
  /** `Plan.nextState` by key, for the object with this uid. */
  readonly #states = new Map<string, { readonly uid: string; readonly state: unknown }>()
  /** Deleted objects whose leftovers have not been removed. */
  readonly #deleted = new Map<string, ApiObject>()

  constructor(controller: PlanController, deps: RunnerDeps) {
    this.#controller = controller
    this.#deps = deps
    this.#informer = deps.informers.of(controller.reconciles)
    this.#caches = planCaches(deps.informers)
    this.#owned = new OwnedObjects(controller, deps.informers)
    this.#watch()
  }

  async run(key: string, context: Context): Promise<number | undefined> {
    const object = this.#informer.get(key)
    if (object === undefined) {
      this.#states.delete(key)
      this.#expectations.forget(key)
      this.#controller.measureDeletion?.(key, this.#deps.metrics)
      await this.#removeLeftovers(key, context)
      return undefined
    }
    this.#deleted.delete(key)
    if (!this.#expectations.areMet(key)) {
      this.#controller.measureStale?.(this.#deps.metrics)
      return expectationMs
    }
    const patches = this.#owned.patchesFor(object)
    if (patches.length > 0) {
      await this.#applyOwnership(key, object, patches, context)
      return expectationMs
    }
    const { client, events, clock } = this.#deps
    const startMs = clock.monotonicMs()
    const plan = this.#planFor(key, object)
    const creates = { succeeded: 0, failed: 0 }
    const expect = (change: Change, written: ApiObject) => {
      if (change.kind === 'create') creates.succeeded++
      this.#expect(key, change.of, written, change.kind === 'delete' ? 'deleted' : 'written')
    }
    const onFailure = ({ kind }: Change) => {
      if (kind === 'create') creates.failed++
    }
    const result: { failure?: Error; hasStatus: boolean } = { hasStatus: false }
    try {
      const failure = await runChanges(object, plan.changes, { client, events, expect, onFailure }, context)
      await this.#applyStatus(key, object, plan, failure, context)
      result.hasStatus = true
      for (const note of plan.events ?? []) events.record(object, note, context)
      if (failure !== undefined) throw failure
    } catch (error) {
      result.failure = error as Error
      throw error
    } finally {
      const seconds = (clock.monotonicMs() - startMs) / 1000
      this.#controller.measure?.(
        { object, plan, creates, ...result, nowMs: clock.nowMs(), seconds },
        this.#deps.metrics,
      )
    }
    return plan.requeueAfterMs
  }

  #watch(): void {
    const { informers, queue } = this.#deps
    const { concerns, leftovers, watches = [], indexes = [] } = this.#controller
    for (const { kind, name, valuesOf } of indexes) informers.of(kind).addIndex(name, valuesOf)
    this.#informer.addIndex(namespaceIndex, byNamespace)
    this.#informer.onChange(({ key, now, before, cause }) => {
      if (now === undefined && before !== undefined && leftovers !== undefined) this.#deleted.set(key, before)
      if (concerns === undefined || (now && concerns(now)) || (before && concerns(before))) queue.add(key, cause)
    })
    this.#owned.watch((owner, { cause }) => queue.add(owner, cause))
    for (const { kind, enqueues } of watches) {
      const informer: Informer = informers.of(kind)
      informer.addIndex(namespaceIndex, byNamespace)
      informer.onChange((change) => {
        for (const key of enqueues(change, this.#caches)) queue.add(key, change.cause)
      })
    }
  }

  /** Plans the object, and stores the state for the next plan. */
  #planFor(key: string, object: ApiObject): Plan {
    const { uid } = object.metadata
    const last = this.#states.get(key)
    const plan = this.#controller.plan(object, {
      ...this.#caches,
      nowMs: this.#deps.clock.nowMs(),
      state: last?.uid === uid ? last.state : undefined,
      owned: <T extends ApiObject>(kind: Kind<T>, by: ApiObject = object): T[] =>
        this.#owned.of(by, kind).toSorted(byName) as unknown as T[],
    } satisfies PlanView)
    if (plan.nextState === undefined) this.#states.delete(key)
    else this.#states.set(key, { uid, state: plan.nextState })
    return plan
  }

  async #applyStatus(
    key: string,
    object: ApiObject,
    plan: Plan,
    failure: Error | undefined,
    context: Context,
  ): Promise<void> {
    const status = failure === undefined ? plan.status : (plan.statusOnFailure?.(failure) ?? plan.status)
    if (status === undefined || equalValues(status, (object as { status?: unknown }).status, true)) return
    // A plan that also updates the object itself writes the status in its next run, on the new version.
    if (plan.changes.some(({ kind, object: changed }) => kind === 'update' && uidOf(changed) === object.metadata.uid))
      return
    const { reconciles } = this.#controller
    const resource = this.#deps.client.of(reconciles)
    const written = await resource.updateStatus({ ...object, status } as ApiObject, context)
    this.#expect(key, reconciles, written, 'written')
  }

  /** Adopts and releases; the next run plans with the result. */
  async #applyOwnership(key: string, owner: ApiObject, patches: readonly KindPatch[], context: Context): Promise<void> {
    const { client } = this.#deps
    if (patches.some(({ patch }) => patch.kind === 'adopt')) {
      // The cache may be stale, and an owner that was deleted must not adopt.
      const { name } = owner.metadata
      const live = await client.of(this.#controller.reconciles).find(name, namespaceOf(owner), context)
      if (live?.metadata.uid !== owner.metadata.uid || live.metadata.deletionTimestamp !== undefined) return
    }
    for (const { kind, patch } of patches) {
      const { object } = patch
      try {
        const { name } = object.metadata
        const written = await client.of(kind).patch(name, namespaceOf(object), patch.patch, 'strategic', context)
        this.#expect(key, kind, written, 'written')
      } catch (error) {
        if (!hasReason(error, 'NotFound')) throw error
      }
    }
  }

  async #removeLeftovers(key: ObjectKey, context: Context): Promise<void> {
    const { client, events } = this.#deps
    const changes = this.#controller.leftovers?.(key, this.#caches, this.#deleted.get(key)) ?? []
    for (const change of changes) {
      const failure = await runChanges(
        change.object,
        [change],
        { client, events, expect: ignored, onFailure: ignored },
        context,
      )
      if (failure !== undefined) throw failure
    }
    this.#deleted.delete(key)
  }

  #expect(key: string, of: Kind, object: ApiObject, kind: 'written' | 'deleted'): void {
    const informer: Informer = this.#deps.informers.of(of)
    this.#expectations.expect(key, { informer, object, kind })
  }
}

const ignored = () => {}
const uidOf = (object: object): string | undefined => (object as Partial<ApiObject>).metadata?.uid
const byName = (a: ApiObject, b: ApiObject): number => (a.metadata.name < b.metadata.name ? -1 : 1)
