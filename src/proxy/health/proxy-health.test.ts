import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../base/observability/metrics.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { proxyMetrics } from '../metrics/proxy-metrics.ts'
import { nodeWith } from '../routing/routing.harness.ts'
import { ProxyHealth } from './proxy-health.ts'

const newHealth = () => {
  const clock = new VirtualClock()
  return { clock, health: new ProxyHealth(clock, proxyMetrics(new Metrics())) }
}

test('the proxy is healthy unless a change waits for a minute', async () => {
  const { clock, health } = newHealth()
  const status = (path: string) => health.handle({ target: path }).status
  equal(status('/healthz'), 200)
  health.queued()
  await clock.advance(120_000)
  equal(status('/livez'), 200, 'before the first sync')
  health.updated()
  health.queued()
  await clock.advance(59_999)
  health.queued()
  equal(status('/healthz'), 200)
  await clock.advance(1)
  deepEqual([status('/healthz'), status('/livez'), health.isHealthy], [503, 503, false])
  health.updated()
  equal(status('/healthz'), 200)
  equal(status('/other'), 404)
})

test('the responses have the fields of upstream', async () => {
  const { clock, health } = newHealth()
  health.updated()
  await clock.advance(1_500)
  const now = '2030-01-01 00:00:01.500 +0000 UTC'
  equal(
    health.handle({ target: '/healthz' }).body,
    `{"lastUpdated": "${now}","currentTime": "${now}", "nodeEligible": true}`,
  )
  equal(health.handle({ target: '/livez?verbose' }).body, `{"lastUpdated": "${now}","currentTime": "${now}"}`)
})

test('a node that the autoscaler removes is not eligible, but the proxy is alive', () => {
  const { health } = newHealth()
  const node = nodeWith('node-a')
  const taints = [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] as const
  health.observeNode({ ...node, spec: { ...node.spec, taints } })
  deepEqual([health.handle({ target: '/healthz' }).status, health.handle({ target: '/livez' }).status], [503, 200])
  health.observeNode(node)
  equal(health.handle({ target: '/healthz' }).status, 200)
})
