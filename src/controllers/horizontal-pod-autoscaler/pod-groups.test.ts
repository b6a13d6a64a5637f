// A table for the pods that count for a metric.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { rfc3339 } from '../../base/time/clock.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { aPod, nowMs } from '../runtime/plan.harness.ts'
import { autoscalerDefaults } from './autoscaler-state.ts'
import { podGroups } from './pod-groups.ts'

type Group = 'ready' | 'unready' | 'missing' | 'ignored'

/** A pod that started and became ready or unready so many seconds ago. */
const started = (ago: number, changedAgo: number, ready = true) =>
  aPod('p', {
    ready,
    readyForMs: changedAgo * 1000,
    status: { startTime: rfc3339(nowMs - ago * 1000), phase: 'Running' },
  })

const rows: [why: string, pod: Pod, resource: string, measuredAgo: number | undefined, group: Group][] = [
  ['that runs', started(3600, 3500), 'cpu', 10, 'ready'],
  ['without a usage', started(3600, 3500), 'cpu', undefined, 'missing'],
  ['that is pending', aPod('p', { phase: 'Pending' }), 'cpu', 10, 'unready'],
  ['that has failed', aPod('p', { phase: 'Failed' }), 'cpu', 10, 'ignored'],
  ['that is being deleted', aPod('p', { deletionTimestamp: rfc3339(nowMs) }), 'cpu', 10, 'ignored'],
  ['without a start time', aPod('p'), 'cpu', 10, 'unready'],
  ['that was measured before it was ready', started(60, 20), 'cpu', 10, 'unready'],
  ['that was measured after it was ready', started(60, 50), 'cpu', 10, 'ready'],
  ['that starts', started(60, 60, false), 'cpu', 10, 'unready'],
  ['that starts, for memory', started(60, 60, false), 'memory', 10, 'ready'],
  ['that was never ready', started(900, 890, false), 'cpu', 10, 'unready'],
  ['that is no longer ready', started(900, 600, false), 'cpu', 10, 'ready'],
]
for (const [why, pod, resource, measuredAgo, group] of rows)
  test(`a pod ${why} is ${group}`, () => {
    const sample = { milli: 5n, atMs: nowMs - (measuredAgo ?? 0) * 1000, windowMs: 30_000 }
    const samples = new Map(measuredAgo === undefined ? [] : [['p', sample]])
    const {
      samples: counted,
      readyCount,
      unready,
      missing,
    } = podGroups([pod], samples, resource, autoscalerDefaults, nowMs)
    deepEqual(
      [counted.size, readyCount, unready.length, missing.length],
      { ready: [1, 1, 0, 0], unready: [0, 0, 1, 0], missing: [0, 0, 0, 1], ignored: [0, 0, 0, 0] }[group],
    )
  })
