// reconcileRunner: informers and keys for controllers that reconcile explicitly.
import type { Kind } from '../api/kind.ts'
import type { ApiObject } from '../api/object.ts'
import { byOwnerUid, type Informer } from '../client/informer.ts'
import type { ReconcileController, ReconcileTools } from './controller.ts'
import { FollowedKinds } from './followed-kinds.ts'
import type { Runner, RunnerParts } from './runner.ts'

const ownerIndex = 'owner'

export function reconcileRunner(controller: ReconcileController, parts: RunnerParts): Runner {
  const { informers, queue, client, clock, events, settings } = parts
  const watched = new Map<Kind, Informer>()
  let followed: FollowedKinds | undefined
  const informerOf = <T extends ApiObject>(kind: Kind<T>) =>
    (watched.get(kind) as Informer<T> | undefined) ?? informers.of(kind)
  for (const { kind, name, groupsOf } of controller.groupings ?? []) informers.of(kind).addIndex(name, groupsOf)
  const tools: ReconcileTools = {
    client,
    memory: controller.memory?.(),
    settings,
    get nowMs() {
      return clock.nowMs()
    },
    tell: (about, note, context) => events.record(about, note, context),
    cached: <T extends ApiObject>(kind: Kind<T>, key: string) => informerOf(kind).get(key),
    all: <T extends ApiObject>(kind: Kind<T>) => informerOf(kind).all(),
    members: ({ kind, name }, group) => informers.of(kind).objects(name, group),
    dependents(uid) {
      const found: { kind: Kind; object: ApiObject }[] = []
      for (const [kind, informer] of watched)
        for (const object of informer.objects(ownerIndex, uid)) found.push({ kind, object })
      return found
    },
    followed: { kindNamed: (...name) => followed?.kindNamed(...name), resource: (name) => followed?.resource(name) },
  }
  function watch(kind: Kind, informer: Informer): void {
    watched.set(kind, informer)
    informer.addIndex(ownerIndex, byOwnerUid)
    informer.onChange((change) => {
      for (const key of controller.wakes(kind, change, tools)) queue.add(key, change.cause)
    })
  }
  for (const kind of controller.watches) watch(kind, informers.of(kind))
  const { follows: isWanted } = controller
  if (isWanted !== undefined)
    followed = new FollowedKinds({ ...parts, isWanted, onFollow: watch, onLeave: (kind) => watched.delete(kind) })
  return {
    async run(key, context, later) {
      await followed?.settled(context.signal)
      const againMs = await controller.reconcile(key, tools, context)
      if (againMs !== undefined) later(againMs)
    },
  }
}
