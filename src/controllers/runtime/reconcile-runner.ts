// reconcileRunner: runs controllers with an explicit reconcile.
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { byOwnerUid, type Informer } from '../../client/informer/informer.ts'
import type { Reconcile } from '../../client/reconcile/reconciler.ts'
import { pauseIfDue } from '../../client/reconcile/turn-pause.ts'
import type { ReconcileController, ReconcileTools } from './controller.ts'
import { DiscoveredKinds } from './discovered-kinds.ts'
import type { RunnerDeps } from './runner.ts'

const ownerIndex = 'owner'

export function reconcileRunner(controller: ReconcileController, deps: RunnerDeps): Reconcile {
  const { informers, queue, client, clock, events, settings, metrics } = deps
  const delayMs = controller.periodMs?.(settings) ?? 0
  const watched = new Map<Kind, Informer>()
  let discovered: DiscoveredKinds | undefined
  const informerOf = <T extends ApiObject>(kind: Kind<T>) =>
    (watched.get(kind) as Informer<T> | undefined) ?? informers.of(kind)
  for (const { kind, name, valuesOf } of controller.indexes ?? []) informers.of(kind).addIndex(name, valuesOf)
  const tools: ReconcileTools = {
    client,
    state: controller.state?.(),
    settings,
    metrics,
    get monotonicMs() {
      return clock.monotonicMs()
    },
    get nowMs() {
      return clock.nowMs()
    },
    recordEvent: (about, note, context) => events.record(about, note, context),
    pause: () => pauseIfDue(clock),
    enqueue: (key, { cause }) => queue.add(key, cause),
    cached: <T extends ApiObject>(kind: Kind<T>, key: string) => informerOf(kind).get(key),
    all: <T extends ApiObject>(kind: Kind<T>) => informerOf(kind).all(),
    byIndex: ({ kind, name }, value) => informers.of(kind).byIndex(name, value),
    dependents(uid) {
      const found: { kind: Kind; object: ApiObject }[] = []
      for (const [kind, informer] of watched)
        for (const object of informer.byIndex(ownerIndex, uid)) found.push({ kind, object })
      return found
    },
    discovered: { kindFor: (...name) => discovered?.kindFor(...name), resource: (name) => discovered?.resource(name) },
  }
  function watch(kind: Kind, informer: Informer): void {
    watched.set(kind, informer)
    informer.addIndex(ownerIndex, byOwnerUid)
    informer.onChange((change) => {
      for (const key of controller.enqueues(kind, change, tools)) queue.addAfter(key, delayMs, change.cause)
    })
  }
  for (const kind of controller.watches) watch(kind, informers.of(kind))
  const { watchesDiscovered } = controller
  if (watchesDiscovered !== undefined)
    discovered = new DiscoveredKinds({
      ...deps,
      isWanted: watchesDiscovered,
      onAdded: watch,
      onRemoved: (kind) => watched.delete(kind),
      onFailure: () => controller.measureDiscoveryFailure?.(metrics),
    })
  return async (key, context) => {
    await discovered?.settled(context.signal)
    return controller.reconcile(key, tools, context)
  }
}
