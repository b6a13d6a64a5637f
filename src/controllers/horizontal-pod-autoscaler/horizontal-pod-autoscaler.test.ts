// The controller in a cluster: failed writes, deleted autoscalers, and metrics APIs of adapters.
// test/horizontal-pod-autoscaler compares its decisions with upstream's.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { horizontalPodAutoscaler } from '../../api/autoscaling/v2/horizontal-pod-autoscaler.ts'
import { event } from '../../api/core/v1/event.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { Client } from '../../client/client.ts'
import type { Transport } from '../../client/transport/transport.ts'
import { streamCoxswainPath } from '../../cluster/client/coxswain-path.ts'
import { startCluster, type TestCluster } from '../../cluster/testing/start-cluster.ts'
import { MetricsClient } from './metrics-client.ts'
import { ScaleTargets } from './scale-targets.ts'

const labels = { app: 'web' }

async function busyWeb(options: { readonly https?: boolean } = {}): Promise<TestCluster> {
  const cluster = await startCluster({ ...options, simulation: { usage: () => ({ cpuMillis: 100 }) } })
  const container = { name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }
  const template = { metadata: { labels }, spec: { containers: [container] } }
  const spec = { replicas: 2, selector: { matchLabels: labels }, template }
  await cluster.client.of(deployment).create({ metadata: { name: 'web' }, spec })
  await cluster.clock.advance('6m')
  return cluster
}

const autoscaler = {
  metadata: { name: 'web' },
  spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
}
const replicasOf = async ({ client }: TestCluster) => (await client.of(deployment).get('web')).spec.replicas
const reasonsOf = async ({ client }: TestCluster) =>
  (await client.of(event).list({ fieldSelector: 'involvedObject.kind=HorizontalPodAutoscaler' })).items.map(
    ({ reason }) => reason,
  )

/** The values of the autoscaler's metrics, by name and labels. */
async function autoscalerSamples({ kubeconfig }: TestCluster): Promise<ReadonlyMap<string, number>> {
  let text = ''
  for await (const piece of streamCoxswainPath(kubeconfig, '/metrics', new AbortController().signal)) text += piece
  const samples = text.matchAll(/^horizontal_pod_autoscaler_controller_(\S+) (\S+)$/gm)
  return new Map(Array.from(samples, ([, name = '', value]) => [name, Number(value)]))
}

test('a scale that cannot be written is reported and tried again in the next period', async () => {
  await using cluster = await busyWeb({ https: true })
  await cluster.client.of(horizontalPodAutoscaler).create(autoscaler)
  cluster.faults.reject({ verb: 'update', kind: deployment })
  await cluster.clock.advance('16s')
  const { status } = await cluster.client.of(horizontalPodAutoscaler).get('web')
  deepEqual(
    status.conditions?.slice(0, 1).map(({ type, status: value, reason }) => [type, value, reason]),
    [['AbleToScale', 'False', 'FailedUpdateScale']],
  )
  equal(await replicasOf(cluster), 2)
  await cluster.clock.advance('15s')
  equal(await replicasOf(cluster), 3)
  deepEqual((await reasonsOf(cluster)).toSorted(), ['FailedRescale', 'SuccessfulRescale'])
  const samples = await autoscalerSamples(cluster)
  for (const [name, value] of [
    ['reconciliations_total{action="none",error="internal"}', 1],
    ['reconciliations_total{action="scale_up",error="none"}', 1],
    ['reconciliation_duration_seconds_count{action="scale_up",error="none"}', 1],
    ['metric_computation_total{action="scale_up",error="none",metric_type="Resource"}', 2],
    ['desired_replicas{hpa_name="web",namespace="default"}', 3],
    ['num_horizontal_pod_autoscalers', 1],
  ] as const)
    equal(samples.get(name), value, name)
  await cluster.client.of(horizontalPodAutoscaler).delete('web')
  await cluster.clock.advance('16s')
  const after = await autoscalerSamples(cluster)
  equal(after.get('desired_replicas{hpa_name="web",namespace="default"}'), undefined)
  equal(after.get('num_horizontal_pod_autoscalers'), 0)
})

test('a scale that stays the same is not read from the API server, and one that changes is', async () => {
  await using cluster = await busyWeb()
  const autoscalers = cluster.client.of(horizontalPodAutoscaler)
  const isAble = async () =>
    (await autoscalers.get('web')).status.conditions?.find(({ type }) => type === 'AbleToScale')?.reason
  await autoscalers.create({ ...autoscaler, spec: { ...autoscaler.spec, maxReplicas: 2 } })
  await cluster.clock.advance('16s')
  cluster.faults.reject({ verb: 'get', kind: deployment })
  await cluster.clock.advance('15s')
  equal(await isAble(), 'ReadyForNewScale')
  await autoscalers.patch('web', 'default', { spec: { maxReplicas: 3 } }, 'merge')
  await cluster.clock.advance('15s')
  equal(await isAble(), 'FailedGetScale')
  await cluster.clock.advance('15s')
  equal(await isAble(), 'SucceededRescale')
  equal(await replicasOf(cluster), 3)
})

test('a status that cannot be written is reported', async () => {
  await using cluster = await busyWeb()
  await cluster.client.of(horizontalPodAutoscaler).create(autoscaler)
  cluster.faults.reject({ verb: 'update', kind: horizontalPodAutoscaler })
  await cluster.clock.advance('16s')
  deepEqual((await reasonsOf(cluster)).toSorted(), ['FailedUpdateStatus', 'SuccessfulRescale'])
})

test('a deleted autoscaler has no effect, and its pods may have another one', async () => {
  await using cluster = await busyWeb()
  const autoscalers = cluster.client.of(horizontalPodAutoscaler)
  await autoscalers.create(autoscaler)
  await cluster.clock.advance('10s')
  await autoscalers.delete('web')
  await cluster.clock.advance('1m')
  equal(await replicasOf(cluster), 2)
  await autoscalers.create({ ...autoscaler, metadata: { name: 'again' } })
  await cluster.clock.advance('16s')
  equal(await replicasOf(cluster), 3)
})

const failures: [why: string, failure: Error, message: RegExp][] = [
  [
    'that is not available',
    new StatusError(503, 'InternalError', 'the server responded with 503: service unavailable'),
    /API: the server is currently unable to handle the request \(get jobs\.external\.metrics\.k8s\.io\)$/,
  ],
  [
    'that is not served',
    new StatusError(404, 'NotFound', 'the server responded with 404: 404 page not found'),
    /API: the server could not find the requested resource \(get jobs\.external\.metrics\.k8s\.io\)$/,
  ],
  ['that is unreachable', new Error('no route'), /metrics API: no route$/],
]
for (const [why, failure, message] of failures)
  test(`a metrics API ${why} is a failure with upstream's message`, async () => {
    const transport = { read: () => Promise.reject(failure) } as unknown as Transport
    const reader = new MetricsClient(new Client(transport), new ScaleTargets())
    const target = { type: 'Value', value: '1' }
    const spec = { type: 'External', external: { metric: { name: 'jobs' }, target } }
    const ctx = context(new AbortController().signal)
    const query = { namespace: 'n', selector: [], podSelector: '', isShared: false, nowMs: 0 }
    const reading = await reader.read(spec, query, ctx)
    equal(reading.kind, 'failed')
    match('message' in reading ? reading.message : '', message)
  })
