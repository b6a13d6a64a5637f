import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { aPod } from '../pod/pod-lifecycle.harness.ts'
import { ProbeMetrics } from './probe-metrics.ts'

test('probes are counted by result, and the series of a pod are removed with it', () => {
  const metrics = new ProbeMetrics()
  const probe = { pod: aPod(), container: 'c', type: 'Liveness' } as const
  const other = { ...probe, pod: aPod({}, {}, { name: 'q', uid: 'v' }) }
  metrics.count(probe, 'successful', 20)
  metrics.count(probe, 'failed', 1_000)
  metrics.count(probe, 'successful', 20)
  metrics.count(other, 'failed', 1_000)
  const samples = () =>
    metrics
      .text()
      .split('\n')
      .filter((line) => /^prober_probe_(total|duration_seconds_(count|sum))/.test(line))
  const last =
    'prober_probe_total{container="c",namespace="default",pod="q",pod_uid="v",probe_type="Liveness",result="failed"} 1'
  deepEqual(samples(), [
    'prober_probe_duration_seconds_sum{container="c",namespace="default",pod="p",probe_type="Liveness"} 0.04',
    'prober_probe_duration_seconds_count{container="c",namespace="default",pod="p",probe_type="Liveness"} 2',
    'prober_probe_total{container="c",namespace="default",pod="p",pod_uid="u",probe_type="Liveness",result="successful"} 2',
    'prober_probe_total{container="c",namespace="default",pod="p",pod_uid="u",probe_type="Liveness",result="failed"} 1',
    last,
  ])
  metrics.forget('u')
  deepEqual(samples(), [last])
  metrics.forget('v')
  equal(samples().length, 0)
})
