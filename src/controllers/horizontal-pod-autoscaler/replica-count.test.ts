// Tables for the number of replicas that a metric asks for.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { PodGroups } from './pod-groups.ts'
import {
  compareAverage,
  compareUtilization,
  isTolerated,
  replicasForPods,
  replicasForShare,
  replicasForValue,
} from './replica-count.ts'

const tolerances = { up: 0.1, down: 0.1 }

/** The usage of each pod in milli-units; null is a pod without a usage, and `unready` those that do not count. */
function groupsOf(usages: readonly (number | null)[], unready: readonly string[] = []): PodGroups {
  const named = usages.map((milli, index) => [`p${index}`, milli] as const)
  const measured = named.flatMap(([name, milli]) => (milli === null ? [] : [[name, milli] as const]))
  return {
    samples: new Map(measured.map(([name, milli]) => [name, { milli: BigInt(milli), atMs: 0, windowMs: 0 }])),
    readyCount: measured.length,
    missing: named.flatMap(([name, milli]) => (milli === null ? [name] : [])),
    unready,
  }
}

const averages: [why: string, current: number, usages: (number | null)[], unready: string[], replicas: number][] = [
  ['at the target keeps the replicas', 3, [100, 100, 100], [], 3],
  ['within the tolerance keeps the replicas', 3, [109, 109, 109], [], 3],
  ['above the target adds replicas', 3, [200, 200, 200], [], 6],
  ['below the target removes replicas', 4, [20, 20, 20, 20], [], 1],
  ['above the target assumes that a pod without usage uses nothing', 3, [200, 200, null], [], 4],
  ['below the target assumes that a pod without usage is at the target', 3, [10, 10, null], [], 2],
  ['that pods without usage would reverse keeps the replicas', 4, [120, null, null, null], [], 4],
  ['above the target assumes that an unready pod uses nothing', 3, [200, 200], ['p8'], 4],
  ['below the target ignores unready pods', 3, [10, 10], ['p8'], 1],
  ['that would add replicas to fewer pods than there are keeps them', 6, [200, 200, null], [], 6],
]
for (const [why, current, usages, unready, replicas] of averages)
  test(`an average ${why}`, () => {
    const groups = groupsOf(usages, unready)
    const compare = compareAverage(100n)
    equal(replicasForPods({ current, groups, tolerances, compare, assumedMilli: () => 100n })?.replicas, replicas)
  })

test('utilization is a percentage of the requests, rounded down', () => {
  const requests = new Map([
    ['p0', 100n],
    ['p1', 200n],
  ])
  const usages = new Map([
    ['p0', 100n],
    ['p1', 100n],
    ['other', 900n],
  ])
  deepEqual(compareUtilization(requests, 50)(usages), { ratio: 66 / 50, utilization: 66, averageMilli: 100n })
  equal(compareUtilization(new Map(), 50)(usages), undefined)
  equal(compareUtilization(new Map([['p0', 0n]]), 50)(usages), undefined)
})

test('usages that cannot be compared propose nothing', () => {
  const compare = compareUtilization(new Map(), 50)
  const groups = groupsOf([1])
  equal(replicasForPods({ current: 1, groups, tolerances, compare, assumedMilli: () => 0n }), undefined)
})

test('a value is handled by the ready pods', () => {
  equal(replicasForValue(3, 1.05, 3, tolerances), 3)
  equal(replicasForValue(3, 2, 2, tolerances), 4)
  equal(replicasForValue(3, 0.1, 3, tolerances), 1)
})

const shares: [milli: bigint, statusReplicas: number, replicas: number, averageMilli: bigint][] = [
  [300n, 3, 3, 100n],
  [320n, 3, 3, 107n],
  [500n, 3, 5, 167n],
  [150n, 3, 2, 50n],
  [400n, 0, 4, (1n << 63n) - 1n],
]
for (const [milli, statusReplicas, replicas, averageMilli] of shares)
  test(`a value of ${milli}m for ${statusReplicas} replicas`, () => {
    const share = replicasForShare(milli, 100n, statusReplicas, tolerances)
    deepEqual([share.replicas, share.averageMilli], [replicas, averageMilli])
  })

test('the tolerances of both directions differ', () => {
  const both = { up: 0.5, down: 0 }
  deepEqual(
    [0.99, 1, 1.5, 1.51].map((ratio) => isTolerated(ratio, both)),
    [false, true, true, false],
  )
})
