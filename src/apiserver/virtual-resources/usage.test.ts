// The metrics API over simulated nodes: the usage that pods declare is served at `metrics.k8s.io`.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { nodeMetrics } from '../../api/metrics/v1beta1/node-metrics.ts'
import { podMetrics } from '../../api/metrics/v1beta1/pod-metrics.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import { UsageReader } from './usage-reader.ts'

const ctx = context(new AbortController().signal)

test('nodes and pods have the usage that their kubelets report; labels and names select them', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  const make = (name: string, usage: string) =>
    cluster.client.of(pod).create(
      {
        metadata: { name, labels: { app: name }, annotations: { 'coxswain.dev/usage': usage } },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      },
      'default',
      ctx,
    )
  await make('busy', 'cpu=250m,memory=64Mi')
  await make('idle', '')
  await cluster.clock.advance('30s')
  const pods = cluster.client.of(podMetrics)
  const { items } = await pods.list({ namespace: 'default', labelSelector: 'app=busy' }, ctx)
  deepEqual(
    items.map(({ metadata, containers, window }) => [metadata.name, metadata.labels, containers, window]),
    [['busy', { app: 'busy' }, [{ name: 'c', usage: { cpu: '250000000n', memory: '65536Ki' } }], '10s']],
  )
  const named = async (fieldSelector: string) =>
    (await pods.list({ namespace: 'default', fieldSelector }, ctx)).items.map(({ metadata }) => metadata.name)
  deepEqual(await named('metadata.name=busy'), ['busy'])
  await rejects(named('spec.nodeName=node-0'), { code: 400 })
  equal((await pods.get('idle', 'default', ctx)).containers[0]?.usage['cpu'], '0')
  await rejects(pods.get('none', 'default', ctx), { code: 404 })
  deepEqual(
    (await cluster.client.of(nodeMetrics).list({}, ctx)).items.map(({ metadata }) => metadata.name),
    ['node-0', 'node-1'],
  )
  await cluster.kill('kubelet/node-0')
  await cluster.clock.advance('10s')
  deepEqual(
    (await cluster.client.of(nodeMetrics).list({}, ctx)).items.map(({ metadata }) => metadata.name),
    ['node-1'],
    'a node that does not answer is left out',
  )
})

test('a node is read once per caching period, and skipped when it does not respond', async () => {
  const clock = new VirtualClock()
  let asked = 0
  const reader = new UsageReader({
    kubelets: {
      call: ({ node }, signal) => {
        asked++
        if (node === 'slow')
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('too late'))))
        const body =
          node === 'odd' ? '[]' : JSON.stringify({ node: { cpu: { usageNanoCores: 5, time: 't' } }, pods: [1] })
        return Promise.resolve({ status: node === 'ill' ? 500 : 200, headers: {}, body })
      },
      callPod: () => Promise.reject(new Error('no pods')),
    },
    clock,
    log: silentLog,
  })
  const all = reader.read(['well', 'odd', 'ill', 'slow'], ctx.signal)
  await clock.advance(6_000)
  const found = await all
  deepEqual([...found.keys()], ['well', 'odd'])
  deepEqual(found.get('well')?.node, { cpuNanoCores: 5, memoryBytes: 0, time: 't' })
  equal(asked, 4)
  await reader.read(['well'], ctx.signal)
  await reader.read(['well'], ctx.signal)
  equal(asked, 5)
})
