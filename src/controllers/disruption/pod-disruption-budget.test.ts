// Tables for the counts of budgets.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { rfc3339 } from '../../base/time/clock.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { replicaSet } from '../../api/apps/v1/replica-set.ts'
import { controllerReference, type ApiObject } from '../../api/meta/object.ts'
import { podDisruptionBudget, type PodDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import type { Plan } from '../runtime/controller.ts'
import { aPod, labels, made, nowMs, planOf, template } from '../runtime/plan.harness.ts'
import { podDisruptionBudgetController } from './pod-disruption-budget.ts'

const selector = { matchLabels: labels }
const web = made(deployment, 'web', { spec: { replicas: 10, selector, template: template('1') } })
const set = made(replicaSet, 'web-1', {
  metadata: { ownerReferences: [controllerReference(web)] },
  spec: { replicas: 4, selector, template: template('1') },
})
const alone = made(replicaSet, 'alone', { spec: { replicas: 3, selector, template: template('1') } })
const of = (owner: ApiObject) => ({ ownerReferences: [controllerReference(owner)] })
const budget = (spec: object, status: object = {}): PodDisruptionBudget =>
  made(podDisruptionBudget, 'b', { spec: { selector, ...spec }, status })

type Counts = [expected: number, desired: number, healthy: number, allowed: number]
const countsOf = ({ status }: Plan): Counts => {
  const { expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed } = status as PodDisruptionBudget['status']
  return [expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed]
}

const ending = { deletionTimestamp: rfc3339(nowMs) }
const soon = { disruptedPods: { a: rfc3339(nowMs - 60_000) } }
const late = { disruptedPods: { a: rfc3339(nowMs - 120_000) } }
const ready = [aPod('a', of(alone)), aPod('b', of(alone)), aPod('c', of(alone))]
const counts: [why: string, budget: PodDisruptionBudget, objects: ApiObject[], counts: Counts][] = [
  ['with a number of pods for minAvailable', budget({ minAvailable: 2 }), ready, [3, 2, 3, 1]],
  [
    'with a number for minAvailable counts pods without an owner',
    budget({ minAvailable: 1 }),
    [aPod('x')],
    [1, 1, 1, 0],
  ],
  [
    'with a percentage for minAvailable rounds up the share of the replicas',
    budget({ minAvailable: '50%' }),
    [alone, ...ready],
    [3, 2, 3, 1],
  ],
  ['with a number for maxUnavailable', budget({ maxUnavailable: 1 }), [alone, ...ready], [3, 2, 3, 1]],
  [
    'with a percentage for maxUnavailable rounds up',
    budget({ maxUnavailable: '10%' }),
    [alone, ...ready],
    [3, 2, 3, 1],
  ],
  ['with a maxUnavailable above the number of pods', budget({ maxUnavailable: 5 }), [alone, ...ready], [3, 0, 3, 3]],
  [
    'uses the replicas of the Deployment that owns the ReplicaSet',
    budget({ maxUnavailable: 1 }),
    [web, set, aPod('a', of(set)), aPod('b', of(set))],
    [10, 9, 2, 0],
  ],
  [
    'does not count unready and terminating pods as healthy',
    budget({ minAvailable: 1 }),
    [aPod('a'), aPod('b', { ready: false }), aPod('c', ending)],
    [3, 1, 1, 0],
  ],
  ['counts a pod with a granted eviction as evicted', budget({ minAvailable: 1 }, soon), ready, [3, 1, 2, 1]],
  ['counts it again when it was not deleted in time', budget({ minAvailable: 1 }, late), ready, [3, 1, 3, 2]],
  ['without pods allows no disruption', budget({ minAvailable: 0 }), [], [0, 0, 0, 0]],
  [
    'ignores pods that it does not select',
    budget({ minAvailable: 0 }),
    [aPod('x', { labels: { app: 'other' } })],
    [0, 0, 0, 0],
  ],
]
for (const [why, object, objects, wanted] of counts)
  test(`a budget ${why}`, () => deepEqual(countsOf(planOf(podDisruptionBudgetController, object, ...objects)), wanted))

test('the condition of a budget states whether evictions are allowed', () => {
  const plan = planOf(podDisruptionBudgetController, budget({ minAvailable: 3 }), ...ready)
  const { conditions } = plan.status as PodDisruptionBudget['status']
  deepEqual(conditions, [
    {
      type: 'DisruptionAllowed',
      status: 'False',
      reason: 'InsufficientPods',
      message: '',
      lastTransitionTime: rfc3339(nowMs),
      observedGeneration: 1,
    },
  ])
})

test('a budget is requeued for when a granted eviction expires', () =>
  equal(planOf(podDisruptionBudgetController, budget({ minAvailable: 1 }, soon), ...ready).requeueAfterMs, 60_000))

test('a budget that cannot be computed allows no disruption and records the reason', () => {
  const orphaned = aPod('a', of(alone))
  const { status, events } = planOf(podDisruptionBudgetController, budget({ maxUnavailable: 1 }), orphaned)
  const { disruptionsAllowed, conditions } = status as PodDisruptionBudget['status']
  deepEqual([disruptionsAllowed, conditions?.[0]?.reason], [0, 'SyncFailed'])
  deepEqual(
    events?.map(({ reason }) => reason),
    ['CalculateExpectedPodCountFailed'],
  )
})
