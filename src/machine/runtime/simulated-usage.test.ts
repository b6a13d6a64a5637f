// A table for the usage that annotations describe, and the CPU time of a usage that changes.
import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { podMetrics } from '../../api/metrics/v1beta1/pod-metrics.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import { usageAt, usageFromAnnotations, type MeasuredContainer, type SimulatedUsage } from './simulated-usage.ts'

const steps = 'cpu=100m,memory=64Mi; 1m: cpu=400m; 5m: cpu=50m, ephemeral-storage=1Ki'
const mebibytes64 = 64 << 20
const texts: [why: string, annotations: Record<string, string>, runningMs: number, usage: SimulatedUsage][] = [
  ['no annotation', {}, 0, {}],
  ['a constant usage', { 'coxswain.dev/usage': 'cpu=250m' }, 9_000, { cpuMillis: 250 }],
  ['the first step', { 'coxswain.dev/usage': steps }, 59_999, { cpuMillis: 100, memoryBytes: mebibytes64 }],
  ['a later step', { 'coxswain.dev/usage': steps }, 60_000, { cpuMillis: 400, memoryBytes: mebibytes64 }],
  [
    'the last step',
    { 'coxswain.dev/usage': steps },
    900_000,
    { cpuMillis: 50, memoryBytes: mebibytes64, layerBytes: 1024 },
  ],
  [
    'the usage of one container',
    { 'coxswain.dev/usage': 'cpu=1', 'coxswain.dev/usage.c': 'memory=1Ki' },
    0,
    { memoryBytes: 1024 },
  ],
]
for (const [why, annotations, runningMs, usage] of texts)
  test(`usage: ${why}`, () => deepEqual(usageFromAnnotations(annotations, { name: 'c', runningMs }), usage))

test('a step without a valid time is an error', () => {
  throws(() => usageFromAnnotations({ 'coxswain.dev/usage': 'soon: cpu=1' }, { name: 'c', runningMs: 0 }), /duration/)
})

test('a usage is constant or depends on the container and the time', () => {
  const container: MeasuredContainer = { namespace: 'n', pod: 'p', name: 'c', image: 'i', runningMs: 7, nowMs: 8 }
  deepEqual(usageAt({ cpuMillis: 1 }, container), { cpuMillis: 1 })
  deepEqual(
    usageAt(({ runningMs }) => ({ cpuMillis: runningMs }), container),
    { cpuMillis: 7 },
  )
  deepEqual(usageAt(undefined, container), {})
})

test('the metrics API reports the usage of an image, a pod and a function at the time of each request', async () => {
  await using cluster = await startCluster({
    simulation: {
      images: { busy: { usage: ({ runningMs }) => ({ cpuMillis: runningMs < 120_000 ? 100 : 700 }) } },
      usage: ({ pod: name, nowMs }) => (name === 'chosen' ? { cpuMillis: 10 + (nowMs % 2) } : {}),
    },
  })
  const make = (name: string, image: string, annotations = {}) =>
    cluster.client.of(pod).create({ metadata: { name, annotations }, spec: { containers: [{ name: 'c', image }] } })
  await make('of-image', 'busy')
  await make('of-pod', 'busy', { 'coxswain.dev/usage': 'cpu=1m; 2m: cpu=2m' })
  await make('chosen', 'busy')
  const cpu = async () => {
    const { items } = await cluster.client.of(podMetrics).list({ namespace: 'default' })
    return items.map(({ metadata, containers }) => [metadata.name, containers[0]?.usage['cpu']])
  }
  await cluster.clock.advance('30s')
  deepEqual(await cpu(), [
    ['chosen', '10000000n'],
    ['of-image', '100000000n'],
    ['of-pod', '1000000n'],
  ])
  await cluster.clock.advance('3m')
  deepEqual(await cpu(), [
    ['chosen', '10000000n'],
    ['of-image', '700000000n'],
    ['of-pod', '2000000n'],
  ])
})
