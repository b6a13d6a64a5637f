// Tables for stabilization windows and rate limits. test/horizontal-pod-autoscaler compares whole decisions with upstream.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { HPAScalingRules } from '../../api/autoscaling/v2/autoscaler-spec.ts'
import { limitRate, noMemory, stabilize, withChange, type AutoscalerMemory, type Scaling } from './scaling-rules.ts'

const nowMs = 10_000_000
const at = (secondsAgo: number, replicas: number) => ({ replicas, atMs: nowMs - secondsAgo * 1000 })
const scaling = (
  current: number,
  memory: Partial<AutoscalerMemory>,
  behavior?: Scaling['limits']['behavior'],
): Scaling => ({
  current,
  nowMs,
  memory: { ...noMemory, ...memory },
  downscaleStabilizationMs: 300_000,
  limits: { minReplicas: 1, maxReplicas: 100, ...(behavior === undefined ? {} : { behavior }) },
})
const rules = (policies: HPAScalingRules['policies'], more: Partial<HPAScalingRules> = {}): HPAScalingRules => ({
  policies: policies ?? [],
  ...more,
})
const pods = (value: number, periodSeconds = 60) => ({ type: 'Pods', value, periodSeconds })
const percent = (value: number, periodSeconds = 60) => ({ type: 'Percent', value, periodSeconds })
const window = (stabilizationWindowSeconds: number) => rules([pods(100)], { stabilizationWindowSeconds })

const stabilizations: [why: string, desired: number, scaling: Scaling, replicas: number, reason: string][] = [
  ['without earlier ones is used', 3, scaling(5, {}), 3, 'ReadyForNewScale'],
  ['is not below a recent one', 3, scaling(5, { recommendations: [at(299, 4)] }), 4, 'ScaleDownStabilized'],
  ['may be below an old one', 3, scaling(5, { recommendations: [at(301, 4)] }), 3, 'ReadyForNewScale'],
  ['to add replicas is used at once', 9, scaling(5, { recommendations: [at(10, 2)] }), 9, 'ReadyForNewScale'],
  [
    'to add replicas is not above a recent one',
    9,
    scaling(5, { recommendations: [at(10, 6), at(70, 5)] }, { scaleUp: window(60), scaleDown: window(0) }),
    6,
    'ScaleUpStabilized',
  ],
  [
    'to remove replicas has the window of the behavior',
    2,
    scaling(5, { recommendations: [at(10, 4), at(30, 5)] }, { scaleUp: window(0), scaleDown: window(20) }),
    4,
    'ScaleDownStabilized',
  ],
  [
    'keeps the replicas when recent ones are on both sides',
    9,
    scaling(5, { recommendations: [at(10, 2)] }, { scaleUp: window(60), scaleDown: window(60) }),
    5,
    'ScaleUpStabilized',
  ],
]
for (const [why, desired, input, replicas, reason] of stabilizations)
  test(`a recommendation ${why}`, () => {
    const result = stabilize(desired, input)
    deepEqual([result.replicas, result.reason], [replicas, reason])
    deepEqual(result.recommendations.at(-1), { replicas: desired, atMs: nowMs })
  })

test('recommendations that are older than every window are forgotten', () => {
  const recommendations = [at(400, 1), at(301, 2), at(299, 3)]
  deepEqual(stabilize(4, scaling(4, { recommendations })).recommendations, [at(299, 3), at(0, 4)])
})

const up = (scaleUp: HPAScalingRules) => ({ scaleUp, scaleDown: rules([percent(100)]) })
const down = (scaleDown: HPAScalingRules) => ({ scaleUp: rules([percent(100)]), scaleDown })
const limits: [why: string, desired: number, scaling: Scaling, replicas: number, reason: string][] = [
  ['within the range', 7, scaling(5, {}), 7, 'DesiredWithinRange'],
  ['of few replicas may become four', 9, scaling(1, {}), 4, 'ScaleUpLimit'],
  ['doubles at most', 50, scaling(5, {}), 10, 'ScaleUpLimit'],
  ['stays below the maximum', 500, scaling(80, {}), 100, 'TooManyReplicas'],
  ['stays above the minimum', 0, scaling(5, {}), 1, 'TooFewReplicas'],
  ['adds pods by a policy', 50, scaling(5, {}, up(rules([pods(3)]))), 8, 'ScaleUpLimit'],
  ['adds a percentage, rounded up', 50, scaling(5, {}, up(rules([percent(50)]))), 8, 'ScaleUpLimit'],
  ['uses the policy that allows most', 50, scaling(10, {}, up(rules([pods(3), percent(50)]))), 15, 'ScaleUpLimit'],
  [
    'uses the policy that allows least',
    50,
    scaling(10, {}, up(rules([pods(3), percent(50)], { selectPolicy: 'Min' }))),
    13,
    'ScaleUpLimit',
  ],
  ['is disabled', 50, scaling(5, {}, up(rules([pods(3)], { selectPolicy: 'Disabled' }))), 5, 'ScaleUpLimit'],
  [
    'counts what was added in the period',
    50,
    scaling(7, { changes: [at(30, 2)] }, up(rules([pods(3)]))),
    8,
    'ScaleUpLimit',
  ],
  [
    'does not count what was added before',
    50,
    scaling(7, { changes: [at(61, 2)] }, up(rules([pods(3)]))),
    10,
    'ScaleUpLimit',
  ],
  ['is not reduced by a limit', 50, scaling(9, { changes: [at(30, 8)] }, up(rules([pods(3)]))), 9, 'ScaleUpLimit'],
  ['removes pods by a policy', 1, scaling(9, {}, down(rules([pods(2)]))), 7, 'ScaleDownLimit'],
  ['removes a percentage, rounded down', 1, scaling(9, {}, down(rules([percent(30)]))), 6, 'ScaleDownLimit'],
  [
    'removes least where it is configured',
    1,
    scaling(20, {}, down(rules([pods(3), percent(50)], { selectPolicy: 'Min' }))),
    17,
    'ScaleDownLimit',
  ],
  ['removes most by default', 1, scaling(20, {}, down(rules([pods(3), percent(50)]))), 10, 'ScaleDownLimit'],
  ['does not remove any', 1, scaling(9, {}, down(rules([pods(2)], { selectPolicy: 'Disabled' }))), 9, 'ScaleDownLimit'],
  ['counts what was removed', 1, scaling(9, { changes: [at(30, -1)] }, down(rules([pods(2)]))), 8, 'ScaleDownLimit'],
  ['with a behavior stays above the minimum', 0, scaling(3, {}, down(rules([percent(100)]))), 1, 'TooFewReplicas'],
  ['with a behavior stays below the maximum', 300, scaling(80, {}, up(rules([percent(100)]))), 100, 'TooManyReplicas'],
]
for (const [why, desired, input, replicas, reason] of limits)
  test(`a change ${why}`, () => {
    const result = limitRate(desired, input)
    deepEqual([result.replicas, result.reason], [replicas, reason])
  })

test('changes are remembered for policies only', () => {
  equal(withChange(noMemory, 3, { minReplicas: 1, maxReplicas: 5 }, nowMs), noMemory)
  const memory = { ...noMemory, changes: [at(1_801, 1), at(1_799, 2)] }
  deepEqual(withChange(memory, -3, { minReplicas: 1, maxReplicas: 5, behavior: {} }, nowMs).changes, [
    at(1_799, 2),
    at(0, -3),
  ])
})
