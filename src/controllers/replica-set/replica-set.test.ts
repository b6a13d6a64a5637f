// Tables for the plans of ReplicaSets and ReplicationControllers.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { replicaSet } from '../../api/apps/v1/replica-set.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { replicationController } from '../../api/core/v1/workload/replication-controller.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { ownershipPatches } from '../runtime/adoption.ts'
import { aPod, labels, made, nowMs, planOf, shown, template } from '../runtime/plan.harness.ts'
import { rankedForDeletion } from '../workload/pod-ranking.ts'
import { replicaSetController } from './replica-set.ts'
import { replicationControllerController } from './replication-controller.ts'

const aSet = (replicas: number, spec: object = {}) =>
  made(replicaSet, 'web', { spec: { replicas, selector: { matchLabels: labels }, template: template('1'), ...spec } })

const cost = (text: string) => ({ annotations: { 'controller.kubernetes.io/pod-deletion-cost': text } })

const replicaSets: [why: string, want: number, have: Pod[], changes: string[]][] = [
  ['creates what is missing', 2, [aPod('a')], ['create pod web-']],
  ['is content', 1, [aPod('a')], []],
  ['removes the surplus', 1, [aPod('a'), aPod('b')], ['delete pod a']],
  [
    'removes the one that has been ready for an order of magnitude less',
    1,
    [aPod('a', { readyForMs: 600_000 }), aPod('b')],
    ['delete pod b'],
  ],
  [
    'removes the one that restarted most',
    1,
    [
      aPod('a'),
      aPod('b', {
        status: { containerStatuses: [{ name: 'c', image: '1', imageID: '', ready: true, restartCount: 3 }] },
      }),
    ],
    ['delete pod b'],
  ],
  ['removes all without choosing', 0, [aPod('a'), aPod('b')], ['delete pod a', 'delete pod b']],
  ['counts a cost that is no number as none', 1, [aPod('a', cost('x')), aPod('b', cost('-1'))], ['delete pod b']],
  [
    'removes the unassigned first',
    1,
    [aPod('a', { nodeName: '', ready: false, phase: 'Pending' }), aPod('b')],
    ['delete pod a'],
  ],
  [
    'removes the pending before the running',
    1,
    [aPod('a'), aPod('b', { phase: 'Pending', ready: false })],
    ['delete pod b'],
  ],
  ['removes the unready before the ready', 1, [aPod('a'), aPod('b', { ready: false })], ['delete pod b']],
  [
    'removes the cheap before the dear',
    1,
    [aPod('a', { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-5' } }), aPod('b')],
    ['delete pod a'],
  ],
  ['does not count what is ending', 1, [aPod('a', { deletionTimestamp: '2030-01-01T00:00:00Z' })], ['create pod web-']],
  ['does not count what has finished', 1, [aPod('a', { phase: 'Failed', ready: false })], ['create pod web-']],
]
for (const [why, want, have, changes] of replicaSets)
  test(`a ReplicaSet ${why}`, () =>
    deepEqual(shown(planOf(replicaSetController, aSet(want), ...have).changes), changes))

test('a ReplicaSet counts in its status, and waits for availability', () => {
  const set = aSet(3)
  const waiting = { ...set, spec: { ...set.spec, minReadySeconds: 90 } }
  const { status, requeueAfterMs } = planOf(
    replicaSetController,
    waiting,
    aPod('a'),
    aPod('b', { ready: false }),
    aPod('c', { deletionTimestamp: '2030-01-01T00:00:00Z' }),
  )
  deepEqual(status, {
    replicas: 2,
    fullyLabeledReplicas: 2,
    readyReplicas: 1,
    observedGeneration: 1,
    terminatingReplicas: 1,
  })
  equal(requeueAfterMs, 30_000)
  const [creation] = planOf(replicaSetController, set).changes
  equal(creation?.tell?.(aPod('x')).message, 'Created pod: x')
  deepEqual(
    planOf(replicaSetController, { ...set, metadata: { ...set.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } })
      .changes,
    [],
  )
})

test('a ReplicaSet tells what was refused, once, and forgets it when it works', () => {
  const plan = planOf(replicaSetController, aSet(2))
  equal(plan.changes[0]?.failureEvent?.(new Error('quota')).message, 'Error creating: quota')
  const status = plan.statusOnFailure?.(new Error('quota')) as { conditions: object[] }
  deepEqual(status.conditions, [
    {
      type: 'ReplicaFailure',
      status: 'True',
      reason: 'FailedCreate',
      message: 'quota',
      lastTransitionTime: '2030-01-01T00:00:00Z',
    },
  ])
  const failing = { ...aSet(2), status: { replicas: 0, ...status } }
  deepEqual(planOf(replicaSetController, failing as never).statusOnFailure?.(new Error('again')), {
    ...(planOf(replicaSetController, aSet(2)).status as object),
    ...status,
  })
  equal((planOf(replicaSetController, failing as never).status as { conditions?: unknown }).conditions, undefined)
})

test('pods on a node that holds many of the siblings go first', () => {
  const pods = [aPod('a', { nodeName: 'x' }), aPod('b', { nodeName: 'y' }), aPod('c', { nodeName: 'y' })]
  deepEqual(
    rankedForDeletion(pods, pods, nowMs).map(({ metadata }) => metadata.name),
    ['b', 'c', 'a'],
  )
})

test('a ReplicationController is the same engine, selected by equal labels', () => {
  const object = made(replicationController, 'web', { spec: { replicas: 2, template: template('1') } })
  deepEqual(shown(planOf(replicationControllerController, object, aPod('a')).changes), ['create pod web-'])
  deepEqual(planOf(replicationControllerController, object, aPod('a')).status, {
    replicas: 1,
    fullyLabeledReplicas: 1,
    readyReplicas: 1,
    availableReplicas: 1,
    observedGeneration: 1,
  })
})

test('an owner adopts what it selects and lets go what it does not; one that is ending does neither', () => {
  const owner = aSet(1)
  const isClaimed = (candidate: ApiObject) => candidate.metadata.labels?.['app'] === 'web'
  const stray = aPod('stray', { labels: { app: 'other' } })
  const orphan = aPod('orphan')
  const found = ownershipPatches(owner, [stray], [orphan, aPod('strange', { labels: {} })], isClaimed)
  deepEqual(
    found.map(({ kind, object }) => `${kind} ${object.metadata.name}`),
    ['release stray', 'adopt orphan'],
  )
  const ending = { ...owner, metadata: { ...owner.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } }
  deepEqual(ownershipPatches(ending, [stray], [orphan], isClaimed), [])
})
