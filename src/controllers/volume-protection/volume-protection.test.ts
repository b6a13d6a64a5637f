// Protection finalizers of volumes and claims.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import {
  claimFinalizer,
  persistentVolumeClaim,
  type PersistentVolumeClaim,
} from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume, volumeFinalizer } from '../../api/core/v1/volume/persistent-volume.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { Controller, PlanController } from '../runtime/controller.ts'
import { aPod, made, planOf } from '../runtime/plan.harness.ts'
import { claimProtectionController, volumeProtectionController } from './volume-protection.ts'

const ending = { deletionTimestamp: '2030-01-01T00:00:00Z' }
const claim = (metadata: object) => made(persistentVolumeClaim, 'c', { metadata, spec: {} })
const volume = (metadata: object, phase = 'Available') =>
  made(persistentVolume, 'v', { metadata, spec: {}, status: { phase } })
const user = (nodeName: string, volumes: object) =>
  aPod('p', { nodeName, spec: { volumes: [{ name: 'c', ...volumes }] } })
const names = { persistentVolumeClaim: { claimName: 'c' } }
const held = { finalizers: ['x', claimFinalizer] }

const cases: [why: string, by: Controller, object: ApiObject, others: ApiObject[], finalizers: string[] | undefined][] =
  [
    ['a claim without the finalizer gets it', claimProtectionController, claim({}), [], [claimFinalizer]],
    ['a claim with the finalizer is not changed', claimProtectionController, claim(held), [], undefined],
    [
      'a deleted claim that is not in use loses the finalizer',
      claimProtectionController,
      claim({ ...held, ...ending }),
      [],
      ['x'],
    ],
    [
      'a deleted claim that a pod uses keeps it',
      claimProtectionController,
      claim({ ...held, ...ending }),
      [user('n', names)],
      undefined,
    ],
    [
      'a pod without a node does not keep it',
      claimProtectionController,
      claim({ ...held, ...ending }),
      [user('', names)],
      ['x'],
    ],
    [
      'a claim for an ephemeral volume of a pod keeps it',
      claimProtectionController,
      made(persistentVolumeClaim, 'p-c', { metadata: { ...held, ...ending }, spec: {} }),
      [user('n', { ephemeral: { volumeClaimTemplate: { spec: {} } } })],
      undefined,
    ],
    ['a volume without the finalizer gets it', volumeProtectionController, volume({}), [], [volumeFinalizer]],
    [
      'a deleted volume that is bound keeps it',
      volumeProtectionController,
      volume({ finalizers: [volumeFinalizer], ...ending }, 'Bound'),
      [],
      undefined,
    ],
    [
      'a deleted volume that is not bound loses it',
      volumeProtectionController,
      volume({ finalizers: [volumeFinalizer], ...ending }, 'Released'),
      [],
      [],
    ],
  ]
for (const [why, controller, object, others, wanted] of cases)
  test(why, () => {
    const [change] = planOf(controller, object, ...others).changes
    const changed = change?.object as ApiObject | undefined
    deepEqual(changed && (changed.metadata.finalizers ?? []), wanted)
  })

const claims = claimProtectionController as PlanController<PersistentVolumeClaim>

test('only a pod that is gone concerns its claims', () => {
  const enqueued = (before: ApiObject | undefined, now: ApiObject | undefined) => [
    ...(claims.watches?.[0]?.enqueues({ key: 'default/p', before, now } as never, {} as never) ?? []),
  ]
  const waiting = user('', names)
  const running = user('n', names)
  deepEqual(enqueued(undefined, waiting), [])
  deepEqual(enqueued(waiting, running), [])
  deepEqual(enqueued(running, running), [])
  deepEqual(enqueued(running, undefined), ['default/c'])
})

test('a claim concerns the controller if it lacks the finalizer or is being deleted', () => {
  const concerned = [held, {}, { ...held, ...ending }].map((metadata) => claims.concerns?.(claim(metadata)))
  deepEqual(concerned, [false, true, true])
})
