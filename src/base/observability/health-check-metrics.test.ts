import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { HealthCheckMetrics } from './health-check-metrics.ts'

test('the last result of a check is a gauge, and all results are counted', () => {
  const checks = new HealthCheckMetrics()
  for (const passed of [true, true, false]) checks.record('etcd', 'readyz', passed)
  const samples = checks.metrics.text().split('\n')
  const values = samples.filter((line) => line !== '' && !line.startsWith('#'))
  equal(
    values.join('\n'),
    `kubernetes_healthcheck{name="etcd",type="readyz"} 0
kubernetes_healthchecks_total{name="etcd",status="success",type="readyz"} 2
kubernetes_healthchecks_total{name="etcd",status="error",type="readyz"} 1`,
  )
})
