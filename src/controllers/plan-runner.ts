// planRunner: wakes a key when its object or what it owns changes, plans, and applies the plan.
import { controllerOf, controllerReference, keyOf, namespaceOf, objectKey, type ApiObject } from '../api/object.ts'
import type { Kind } from '../api/kind.ts'
import type { Context } from '../base/context.ts'
import { equalValues } from '../schema/json-value.ts'
import { byOwnerUid, type Change as Seen, type Informer } from '../client/informer.ts'
import type { Change, Plan, PlanController } from './controller.ts'
import { Expectations } from './expectations.ts'
import type { Runner, RunnerParts } from './runner.ts'

/** Changes of one plan that are under way at once. */
const changesAtOnceMax = 16
/** An expectation that nothing fulfils is looked at again: the write may have been undone meanwhile. */
const expectationMs = 1000

const ownerIndex = 'owner'

export function planRunner(controller: PlanController, parts: RunnerParts): Runner {
  const { informers, queue, client, clock, events } = parts
  const expectations = new Expectations()
  const informer = informers.of(controller.reconciles)
  const owned = new Map(controller.owns.map((kind) => [kind, informers.of(kind)]))
  informer.onChange(({ key, cause }) => queue.add(key, cause))
  for (const ownedInformer of owned.values()) {
    ownedInformer.addIndex(ownerIndex, byOwnerUid)
    ownedInformer.onChange((change) => {
      for (const key of ownersOf(controller.reconciles, change)) queue.add(key, change.cause)
    })
  }

  const informerOf = (kind: Kind): Informer => owned.get(kind) ?? informer

  async function apply(key: string, object: ApiObject, change: Change, context: Context): Promise<void> {
    const resource = client.of(change.of)
    const namespace = namespaceOf(object)
    const expect = (kind: 'written' | 'deleted', made: ApiObject) =>
      expectations.expect(key, { informer: informerOf(change.of), object: made, kind })
    switch (change.kind) {
      case 'create': {
        const made = await resource.create(withOwner(change.object as ApiObject, object), namespace, context)
        expect('written', made)
        return tell(change, made, object, context)
      }
      case 'update': {
        const made = await resource.update(change.object, context)
        expect('written', made)
        return tell(change, made, object, context)
      }
      case 'delete': {
        const { name, uid } = change.object.metadata
        await resource.delete(name, namespaceOf(change.object), { uid, propagationPolicy: 'Background' }, context)
        expect('deleted', change.object)
        return tell(change, change.object, object, context)
      }
      default:
        return change satisfies never
    }
  }

  async function tell(change: Change, made: ApiObject, object: ApiObject, context: Context): Promise<void> {
    if (change.tell !== undefined) await events.record(object, change.tell(made), context)
  }

  async function applyStatus(
    key: string,
    object: ApiObject,
    { status, changes }: Plan,
    context: Context,
  ): Promise<void> {
    if (status === undefined || equalValues(status, (object as { status?: unknown }).status)) return
    // A plan that also changes the object itself writes the status on its next turn, on the new version.
    if (changes.some((change) => change.kind === 'update' && change.object.metadata.uid === object.metadata.uid)) return
    const made = await client.of(controller.reconciles).updateStatus({ ...object, status } as ApiObject, context)
    expectations.expect(key, { informer, object: made, kind: 'written' })
  }

  return {
    async run(key, context, later) {
      const object = informer.get(key)
      if (object === undefined) return expectations.forget(key)
      if (!expectations.areMet(key)) return later(expectationMs)
      const view = {
        nowMs: clock.nowMs(),
        owned: <T extends ApiObject>(kind: Kind<T>): T[] =>
          (owned.get(kind as unknown as Kind)?.objects(ownerIndex, object.metadata.uid) ?? [])
            .filter((candidate) => controllerOf(candidate)?.uid === object.metadata.uid)
            .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) as unknown as T[],
      }
      const plan = controller.plan(object, view)
      for (let start = 0; start < plan.changes.length; start += changesAtOnceMax)
        await Promise.all(
          plan.changes.slice(start, start + changesAtOnceMax).map((change) => apply(key, object, change, context)),
        )
      await applyStatus(key, object, plan, context)
      for (const note of plan.events ?? []) await events.record(object, note, context)
      if (plan.requeueAfterMs !== undefined) later(plan.requeueAfterMs)
    },
  }
}

function ownersOf(kind: Kind, { now, before }: Seen<ApiObject>): Set<string> {
  const keys = new Set<string>()
  for (const object of [now, before]) {
    const owner = object === undefined ? undefined : controllerOf(object)
    if (object !== undefined && owner?.kind === kind.kind && owner.apiVersion === kind.apiVersion)
      keys.add(objectKey(kind.namespaced ? namespaceOf(object) : '', owner.name))
  }
  return keys
}

const withOwner = (object: ApiObject, owner: ApiObject): ApiObject => ({
  ...object,
  metadata: { ...object.metadata, ownerReferences: [controllerReference(owner)] },
})
