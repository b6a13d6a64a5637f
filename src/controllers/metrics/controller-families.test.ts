// The metrics of single controllers, in a cluster in virtual time.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { cronJob } from '../../api/batch/v1/cron-job.ts'
import { job } from '../../api/batch/v1/job.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { streamCoxswainPath } from '../../cluster/client/coxswain-path.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'

const ctx = context(new AbortController().signal)

test('Jobs, CronJobs, evictions and certificates are counted', async () => {
  await using cluster = await startCluster({ https: true, simulation: { images: { work: () => Promise.resolve(0) } } })
  const { client, clock } = cluster
  const template = { spec: { containers: [{ name: 'c', image: 'work' }], restartPolicy: 'Never' as const } }
  await client
    .of(job)
    .create({ metadata: { name: 'j' }, spec: { ttlSecondsAfterFinished: 5, template } }, 'default', ctx)
  const spec = { schedule: '* * * * *', jobTemplate: { spec: { template } } }
  await client.of(cronJob).create({ metadata: { name: 'c' }, spec }, 'default', ctx)
  const containers = [{ name: 'c', image: 'i' }]
  await client.of(pod).create({ metadata: { name: 'p' }, spec: { containers } }, 'default', ctx)
  await clock.advance('70s')
  const taints = [{ key: 'k', effect: 'NoExecute' }]
  await client.of(node).patch('node-0', '', { spec: { taints } }, 'merge', ctx)
  await clock.advance('10s')
  let text = ''
  for await (const piece of streamCoxswainPath(cluster.kubeconfig, '/metrics', ctx.signal)) text += piece
  const value = (series: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')[1],
    )
  match(
    text,
    /^job_controller_jobs_finished_total\{completion_mode="NonIndexed",reason="CompletionsReached",result="succeeded"\} 2$/m,
  )
  equal(value('job_controller_job_pods_finished_total{completion_mode="NonIndexed",result="succeeded"}'), 2)
  equal(value('cronjob_controller_job_creation_skew_duration_seconds_count'), 1)
  equal(value('ttl_after_finished_controller_job_deletion_duration_seconds_count'), 1)
  // The pod, and the finished one of the CronJob.
  equal(value('taint_eviction_controller_pod_deletions_total'), 2)
  equal(value('taint_eviction_controller_pod_deletion_duration_seconds_count'), 2)
  equal(value('root_ca_cert_publisher_sync_total{code="200"}') > 0, true)
  equal(value('job_controller_job_pods_creation_total{reason="new",status="succeeded"}'), 2)
  deepEqual(
    ['zone_size', 'zone_health', 'unhealthy_nodes_in_zone'].map((name) => value(`node_collector_${name}{zone=""}`)),
    [1, 100, 0],
  )
  equal(value('node_collector_update_node_health_duration_seconds_count') > 0, true)
})

test('endpoints and their slices are counted', async () => {
  await using cluster = await startCluster({ https: true })
  const { client, clock } = cluster
  const labels = { app: 'web' }
  const shown = async (names: readonly string[]) => {
    let text = ''
    for await (const piece of streamCoxswainPath(cluster.kubeconfig, '/metrics', ctx.signal)) text += piece
    const values = new Map(
      Array.from(text.matchAll(/^endpoint_slice_controller_(\S+) (\S+)$/gm), ([, name = '', value]) => [name, value]),
    )
    return names.map((name) => Number(values.get(name) ?? 0))
  }
  const gauges = ['endpoints_desired', 'num_endpoint_slices', 'desired_endpoint_slices']
  const counts = ['endpoints_added_per_sync_sum', 'endpoints_removed_per_sync_sum', 'changes{operation="create"}']
  const [endpoints = 0, slices = 0, desired = 0] = await shown(gauges)
  const [added = 0, removed = 0, created = 0] = await shown(counts)
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  for (const name of ['a', 'b']) await client.of(pod).create({ metadata: { name, labels }, spec }, 'default', ctx)
  await client
    .of(service)
    .create({ metadata: { name: 'web' }, spec: { selector: labels, ports: [{ port: 80 }] } }, 'default', ctx)
  await clock.advance('10s')
  deepEqual(await shown(gauges), [endpoints + 2, slices + 1, desired + 1])
  deepEqual(await shown(counts), [added + 2, removed, created + 1])
  await client.of(pod).delete('a', 'default', { gracePeriodSeconds: 0 }, ctx)
  await clock.advance('10s')
  deepEqual(await shown(gauges), [endpoints + 1, slices + 1, desired + 1])
  deepEqual(await shown(counts), [added + 2, removed + 1, created + 1])
  await client.of(service).delete('web', 'default', {}, ctx)
  await clock.advance('10s')
  deepEqual(await shown(gauges), [endpoints, slices, desired])
  const syncs = 'endpointslices_changed_per_sync_count{topology="Disabled",traffic_distribution=""}'
  const [perSync = 0, success = 0] = await shown([syncs, 'syncs{result="success"}'])
  ok(perSync > 0 && success >= perSync, `${perSync} of ${success}`)
})
