import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { replicaSet } from '../../api/apps/v1/replica-set.ts'
import { statefulSet } from '../../api/apps/v1/stateful-set.ts'
import { job } from '../../api/batch/v1/job.ts'
import { replicationController } from '../../api/core/v1/workload/replication-controller.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { rfc3339 } from '../../base/time/clock.ts'
import { jobController } from '../job/job.ts'
import { replicaSetController } from '../replica-set/replica-set.ts'
import { replicationControllerController } from '../replica-set/replication-controller.ts'
import type { PlanController } from '../runtime/controller.ts'
import { aPod, labels, made, nowMs, template, viewOf } from '../runtime/plan.harness.ts'
import { statefulSetController } from '../stateful-set/stateful-set.ts'
import { msPerWaitingPod, ownWaitingPodsMax, podBurstOf, podsBurstMax, waitingPodsMax } from './pod-burst.ts'

const bursts: [why: string, source: object, burst: number][] = [
  ['a small template', { spec: { containers: [] } }, podsBurstMax],
  ['a template of 1 MiB', { text: 'x'.repeat(1 << 20) }, 7],
  ['a template of 9 MiB', { text: 'x'.repeat(9 << 20) }, 1],
]
for (const [why, source, burst] of bursts)
  test(`one plan creates ${burst} pods from ${why}`, () => {
    equal(podBurstOf(source), burst)
    equal(podBurstOf(source), burst)
  })

const most = 2_147_483_647
const spec = { replicas: most, selector: { matchLabels: labels }, template: template('1') }
const jobSpec = { parallelism: most, template: template('1', { restartPolicy: 'Never' }) }
const workloads = [
  [replicaSetController, made(replicaSet, 'web', { spec })],
  [replicationControllerController, made(replicationController, 'web', { spec: { ...spec, selector: labels } })],
  [jobController, made(job, 'web', { spec: jobSpec })],
] as const

const ageMs = 1_000
const step = waitingPodsMax * msPerWaitingPod
/** Pods of the workload itself, unless they have an owner. */
const pods = (count: number, details: Record<string, unknown> = {}): readonly Pod[] => {
  const waiting = { phase: 'Pending', ready: false, nodeName: '' }
  const creationTimestamp = rfc3339(nowMs - ageMs)
  const one = aPod('one', { ...waiting, creationTimestamp, ...details })
  const prefix = JSON.stringify(details).length
  return Array.from({ length: count }, (_, at) => ({
    ...one,
    metadata: { ...one.metadata, name: `web-${prefix}-${at}`, uid: `uid-${prefix}-${at}` },
  }))
}
const ofOthers = {
  ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'other', uid: 'other', controller: true }],
}
const elsewhere = { namespace: 'elsewhere', ...ofOthers }
const max = waitingPodsMax
const waits: [why: string, pods: readonly Pod[], afterMs: number, created: number, waitMs: number | undefined][] = [
  ['there is space', pods(max - 30), 0, 30, undefined],
  ['as many as may be wait', pods(max), 0, 0, step - ageMs],
  ['twice as many wait', pods(2 * max), 0, 0, 2 * step - ageMs],
  ['they have waited', pods(max), step, podsBurstMax, undefined],
  ['twice as many have waited for half of the time', pods(2 * max), step, 0, step - ageMs],
  ['they have nodes', pods(max, { nodeName: 'n' }), 0, podsBurstMax, undefined],
  ['they are of another namespace', pods(max, elsewhere), 0, podsBurstMax, undefined],
  ['others of the namespace wait', pods(max, ofOthers), 0, ownWaitingPodsMax, step - ageMs],
  ['others and some of its own wait', [...pods(max, ofOthers), ...pods(4)], 0, ownWaitingPodsMax - 4, undefined],
]
for (const [why, present, afterMs, created, waitMs] of waits)
  for (const [controller, object] of workloads)
    test(`a ${object.kind} creates ${created} pods where ${why}`, () => {
      const plan = (controller as PlanController).plan(object, viewOf(present, nowMs + afterMs))
      equal(plan.changes.filter(({ kind }) => kind === 'create').length, created)
      if (waitMs !== undefined) equal(plan.requeueAfterMs, waitMs)
    })

test('a StatefulSet with the policy Parallel stops at the first pod that may not be created yet', () => {
  const object = made(statefulSet, 'web', { spec: { ...spec, serviceName: 'web', podManagementPolicy: 'Parallel' } })
  const plan = (others: readonly Pod[], afterMs: number) => {
    const view = viewOf(others, nowMs + afterMs)
    const [first] = (statefulSetController as PlanController).plan(object, view).changes
    const revision = made(first?.of ?? statefulSet, 'web-1', { ...(first?.object as object) })
    return (statefulSetController as PlanController).plan(object, viewOf([revision, ...others], nowMs + afterMs))
  }
  const shown = (count: number, afterMs: number) => {
    const { changes, requeueAfterMs } = plan(pods(count, ofOthers), afterMs)
    return [changes.length, requeueAfterMs]
  }
  deepEqual(shown(0, 0), [podsBurstMax, undefined])
  deepEqual(shown(max - 1, 0), [1, undefined])
  deepEqual(shown(max, 0), [ownWaitingPodsMax, step - ageMs])
  deepEqual(shown(max, step), [podsBurstMax, undefined])
})
