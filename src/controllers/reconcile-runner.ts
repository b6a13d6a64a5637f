// reconcileRunner: informers and keys for controllers that reconcile explicitly.
import type { Kind } from '../api/kind.ts'
import type { ApiObject } from '../api/object.ts'
import { byOwnerUid } from '../client/informer.ts'
import type { ReconcileController, ReconcileTools } from './controller.ts'
import type { Runner, RunnerParts } from './runner.ts'

const ownerIndex = 'owner'

export function reconcileRunner(
  controller: ReconcileController,
  { informers, queue, client, clock, events, settings }: RunnerParts,
): Runner {
  const watched = new Map(controller.watches.map((kind) => [kind, informers.of(kind)]))
  for (const { kind, name, groupsOf } of controller.groupings ?? []) informers.of(kind).addIndex(name, groupsOf)
  const tools: ReconcileTools = {
    client,
    memory: controller.memory?.(),
    settings,
    get nowMs() {
      return clock.nowMs()
    },
    tell: (about, note, context) => events.record(about, note, context),
    cached: <T extends ApiObject>(kind: Kind<T>, key: string) => informers.of(kind).get(key),
    all: <T extends ApiObject>(kind: Kind<T>) => informers.of(kind).all(),
    members: ({ kind, name }, group) => informers.of(kind).objects(name, group),
    dependents(uid) {
      const found: { kind: Kind; object: ApiObject }[] = []
      for (const [kind, informer] of watched)
        for (const object of informer.objects(ownerIndex, uid)) found.push({ kind, object })
      return found
    },
  }
  for (const [kind, informer] of watched) {
    informer.addIndex(ownerIndex, byOwnerUid)
    informer.onChange((change) => {
      for (const key of controller.wakes(kind, change, tools)) queue.add(key, change.cause)
    })
  }
  return {
    async run(key, context, later) {
      const againMs = await controller.reconcile(key, tools, context)
      if (againMs !== undefined) later(againMs)
    },
  }
}
