// Claims that are created for the ephemeral volumes of pods.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { persistentVolumeClaim } from '../api/core/v1/volume/persistent-volume-claim.ts'
import type { Pod } from '../api/core/v1/pod/pod.ts'
import type { ApiObject } from '../api/meta/object.ts'
import { aPod, firstObject, made, planOf, shown } from './runtime/plan.harness.ts'
import { ephemeralVolumeController as controller } from './ephemeral-volume.ts'

const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const volume = (name: string, metadata?: object) => ({
  name,
  ephemeral: { volumeClaimTemplate: { spec, ...(metadata && { metadata }) } },
})
const using = (volumes: readonly object[], metadata: object = {}): Pod => aPod('p', { spec: { volumes }, ...metadata })
const claim = (name: string, uid?: string) =>
  made(persistentVolumeClaim, name, {
    metadata:
      uid === undefined
        ? {}
        : { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid, controller: true }] },
    spec,
  })
const conflict = 'ephemeral volume x: PVC default/p-x was not created for pod default/p (pod is not owner)'

const rows: readonly (readonly [what: string, pod: Pod, others: ApiObject[], changes: string[], events: string[]])[] = [
  [
    'no claims yet',
    using([volume('x'), { name: 'e', emptyDir: {} }, volume('y')]),
    [],
    ['create persistentvolumeclaim p-x', 'create persistentvolumeclaim p-y'],
    [],
  ],
  ['its own claim', using([volume('x')]), [claim('p-x', 'uid-p')], [], []],
  ['a claim without an owner', using([volume('x'), volume('y')]), [claim('p-x')], [], [conflict]],
  ['the claim of a former pod', using([volume('x')]), [claim('p-x', 'uid-former')], [], [conflict]],
  [
    'a conflict after the first volume',
    using([volume('w'), volume('x')]),
    [claim('p-x')],
    ['create persistentvolumeclaim p-w'],
    [conflict],
  ],
  ['a pod that is being deleted', using([volume('x')], { deletionTimestamp: '2030-01-01T00:00:00Z' }), [], [], []],
]

for (const [what, pod, others, changes, events] of rows)
  test(`ephemeral volumes: ${what}`, () => {
    const plan = planOf(controller, pod, ...others)
    deepEqual(shown(plan.changes), changes)
    deepEqual(
      (plan.events ?? []).map(({ message }) => message),
      events,
    )
  })

test('a claim has the labels, annotations and spec of the template', () => {
  const plan = planOf(controller, using([volume('x', { labels: { a: 'b' }, annotations: { c: 'd' } })]))
  const { metadata, spec: claimSpec } = firstObject<{ metadata: object; spec: { accessModes: string[] } }>(plan)
  deepEqual(
    [metadata, claimSpec.accessModes],
    [{ name: 'p-x', labels: { a: 'b' }, annotations: { c: 'd' } }, ['ReadWriteOnce']],
  )
})

test('a claim that cannot be created is an event of the pod', () => {
  const [change] = planOf(controller, using([volume('x')])).changes
  deepEqual(change?.failureEvent?.(new Error('no')), {
    type: 'Warning',
    reason: 'FailedBinding',
    message: 'ephemeral volume x: create PVC p-x: no',
  })
})

test('only pods with ephemeral volumes are reconciled', () => {
  const concerns = (pod: Pod) => controller.type === 'plan' && controller.concerns?.(pod)
  deepEqual([using([volume('x')]), using([{ name: 'e', emptyDir: {} }]), aPod('q')].map(concerns), [true, false, false])
})
