// Tables for the plans of ReplicaSets and ReplicationControllers.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { rfc3339 } from '../../base/time/clock.ts'
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

test('the ages of deleted ready pods are measured relative to the youngest', () => {
  const aged = (name: string, minutes: number, rest: object = {}) =>
    aPod(name, { creationTimestamp: rfc3339(nowMs - minutes * 60_000), ...cost('1'), ...rest })
  const pods = [
    aged('unready', 2, { ready: false }),
    aged('old', 70, cost('0')),
    aged('young', 20),
    aged('younger', 10, { readyForMs: 6_000_000 }),
  ]
  const measured = (replicas: number) => planOf(replicaSetController, aSet(replicas), ...pods).measured
  deepEqual(measured(1), [7, 2], 'the pod that is not ready does not count')
  deepEqual(measured(4), [])
  deepEqual(measured(0), [], 'there is no choice')
})

const cost = (text: string) => ({ annotations: { 'controller.kubernetes.io/pod-deletion-cost': text } })

const replicaSets: [why: string, want: number, have: Pod[], changes: string[]][] = [
  ['creates missing pods', 2, [aPod('a')], ['create pod web-']],
  ['with enough pods changes nothing', 1, [aPod('a')], []],
  ['deletes surplus pods', 1, [aPod('a'), aPod('b')], ['delete pod a']],
  [
    'deletes the pod that has been ready for an order of magnitude less',
    1,
    [aPod('a', { readyForMs: 600_000 }), aPod('b')],
    ['delete pod b'],
  ],
  [
    'deletes the pod with the most restarts',
    1,
    [
      aPod('a'),
      aPod('b', {
        status: { containerStatuses: [{ name: 'c', image: '1', imageID: '', ready: true, restartCount: 3 }] },
      }),
    ],
    ['delete pod b'],
  ],
  ['deletes all pods when it is scaled to 0', 0, [aPod('a'), aPod('b')], ['delete pod a', 'delete pod b']],
  ['counts an invalid deletion cost as 0', 1, [aPod('a', cost('x')), aPod('b', cost('-1'))], ['delete pod b']],
  [
    'deletes unassigned pods first',
    1,
    [aPod('a', { nodeName: '', ready: false, phase: 'Pending' }), aPod('b')],
    ['delete pod a'],
  ],
  [
    'deletes pending before running pods',
    1,
    [aPod('a'), aPod('b', { phase: 'Pending', ready: false })],
    ['delete pod b'],
  ],
  ['deletes unready before ready pods', 1, [aPod('a'), aPod('b', { ready: false })], ['delete pod b']],
  [
    'deletes pods with a low deletion cost first',
    1,
    [aPod('a', { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-5' } }), aPod('b')],
    ['delete pod a'],
  ],
  [
    'does not count terminating pods',
    1,
    [aPod('a', { deletionTimestamp: '2030-01-01T00:00:00Z' })],
    ['create pod web-'],
  ],
  ['does not count finished pods', 1, [aPod('a', { phase: 'Failed', ready: false })], ['create pod web-']],
]
for (const [why, want, have, changes] of replicaSets)
  test(`a ReplicaSet ${why}`, () =>
    deepEqual(shown(planOf(replicaSetController, aSet(want), ...have).changes), changes))

test('the status of a ReplicaSet, its requeue for availability, and its events', () => {
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
  equal(creation?.event?.(aPod('x')).message, 'Created pod: x')
  deepEqual(
    planOf(replicaSetController, { ...set, metadata: { ...set.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } })
      .changes,
    [],
  )
})

test('a ReplicaSet reports a failed creation once, and removes the condition when it succeeds', () => {
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

test('pods on a node with many related pods are deleted first', () => {
  const pods = [aPod('a', { nodeName: 'x' }), aPod('b', { nodeName: 'y' }), aPod('c', { nodeName: 'y' })]
  deepEqual(
    rankedForDeletion(pods, pods, nowMs).map(({ metadata }) => metadata.name),
    ['b', 'c', 'a'],
  )
})

test('a ReplicationController has the same plan as a ReplicaSet', () => {
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

test('an owner adopts matching orphans and releases others; a deleted owner does neither', () => {
  const owner = aSet(1)
  const isClaimed = (candidate: ApiObject) => candidate.metadata.labels?.['app'] === 'web'
  const stray = aPod('stray', { labels: { app: 'other' } })
  const orphan = aPod('orphan')
  const found = ownershipPatches(owner, [stray], [orphan, aPod('unrelated', { labels: {} })], isClaimed)
  deepEqual(
    found.map(({ kind, object }) => `${kind} ${object.metadata.name}`),
    ['release stray', 'adopt orphan'],
  )
  const ending = { ...owner, metadata: { ...owner.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } }
  deepEqual(ownershipPatches(ending, [stray], [orphan], isClaimed), [])
})
