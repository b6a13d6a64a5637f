// What a test can do with its cluster: restore snapshots, inject faults, connect from outside.
import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { cronJob } from '../../api/batch/v1/cron-job.ts'
import { job } from '../../api/batch/v1/job.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { revisionOf } from '../../api/meta/object.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { parseKubeconfig } from '../../pki/kubeconfig.ts'
import { startCluster } from './start-cluster.ts'
import type { TestCluster } from './test-cluster.ts'

const ctx = context(new AbortController().signal)
const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }

const deploy = ({ client }: TestCluster, replicas: number) =>
  client
    .of(deployment)
    .create(
      { metadata: { name: 'web' }, spec: { replicas, selector: { matchLabels: labels }, template } },
      'default',
      ctx,
    )

const running = async ({ client }: TestCluster) =>
  (await client.of(pod).list({ namespace: 'default' }, ctx)).items.filter(({ status }) => status.phase === 'Running')

const allRun = (cluster: TestCluster, count: number) =>
  cluster.until(async () => (await running(cluster)).length === count || undefined)

test('restore returns to the snapshot as after a crash, and the same events follow', async () => {
  await using cluster = await startCluster()
  await deploy(cluster, 2)
  await allRun(cluster, 2)
  const names = async () => (await running(cluster)).map(({ metadata }) => metadata.name)
  const before = await names()
  const snapshot = cluster.snapshot()
  const maps = cluster.client.of(configMap)
  const scale = () => cluster.client.of(deployment).patch('web', 'default', { spec: { replicas: 4 } }, 'merge', ctx)
  const late = await maps.create({ metadata: { name: 'late' } }, 'default', ctx)
  await scale()
  await allRun(cluster, 4)
  const after = await names()
  const nowMs = cluster.clock.nowMs()

  await cluster.restore(snapshot)
  ok(cluster.clock.nowMs() < nowMs, 'the time is that of the snapshot')
  equal(await maps.find('late', 'default', ctx), undefined)
  const { revision } = await maps.list({ namespace: 'default' }, ctx)
  ok(revision > revisionOf(late), 'the revision moves forward')
  const resourceVersion = late.metadata.resourceVersion ?? ''
  await rejects(
    async () => {
      for await (const _ of maps.watch({ namespace: 'default', resourceVersion }, ctx)) return
    },
    (error) => error instanceof StatusError && error.code === 410,
  )
  await allRun(cluster, 2)
  deepEqual(await names(), before)
  await scale()
  await allRun(cluster, 4)
  deepEqual((await names()).toSorted(), after.toSorted(), 'chance stands where it stood')
})

test('a pod that is not restarted has failed after a restart, and its container has ended', async () => {
  await using cluster = await startCluster()
  const pods = cluster.client.of(pod)
  await pods.create({ metadata: { name: 'once' }, spec: { ...template.spec, restartPolicy: 'Never' } }, 'default', ctx)
  await allRun(cluster, 1)
  await cluster.restore(cluster.snapshot())
  const { status } = await cluster.until(async () => {
    const found = await pods.get('once', 'default', ctx)
    return found.status.phase === 'Failed' && found
  })
  const message = 'The container could not be located when the pod was terminated'
  deepEqual(status.containerStatuses?.[0]?.state, {
    terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', message, startedAt: null, finishedAt: null },
  })
})

test('after restore the API answers at once, and a component that is killed before the restart stays stopped', async () => {
  await using cluster = await startCluster()
  await cluster.restore(cluster.snapshot())
  await cluster.kill('scheduler')
  await deploy(cluster, 1)
  await cluster.clock.advance('10s')
  const [waiting] = (await cluster.client.of(pod).list({ namespace: 'default' }, ctx)).items
  deepEqual([waiting?.status.phase, waiting?.spec.nodeName], ['Pending', undefined])
  cluster.start('scheduler')
  await allRun(cluster, 1)
})

test('broken watches are detected and resumed, however they break', async () => {
  await using cluster = await startCluster()
  let count = 0
  await deploy(cluster, 0)
  for (const how of ['gone', 'reset', 'silence'] as const) {
    ok(cluster.faults.breakWatches(how) > 10)
    const spec = { replicas: ++count }
    await cluster.client.of(deployment).patch('web', 'default', { spec }, 'merge', ctx)
    await cluster.clock.advance('5s')
    if (how === 'silence') {
      equal((await running(cluster)).length, count - 1, 'no component observes it')
      cluster.faults.heal()
    }
    await allRun(cluster, count)
  }
})

test('refused requests are retried, and only the selected requests are refused', async () => {
  await using cluster = await startCluster()
  cluster.faults.reject({ verb: 'create', kind: pod, sender: 'controller/replica-set', code: 500, times: 2 })
  cluster.faults.reject({ verb: 'update', kind: deployment, subresource: 'status' })
  await deploy(cluster, 2)
  await allRun(cluster, 2)
  const flow = cluster.flow(await cluster.client.of(deployment).get('web', 'default', ctx))
  match(flow, /create deployments web/)
  equal(flow, cluster.flow(deployment, 'web'))
  throws(() => cluster.flow(deployment, 'wbe'), {
    message: 'deployment "wbe" has no recorded flow in namespace "default"; did you mean web?',
  })
  throws(
    () => cluster.flow(deployment, 'web', 'shop'),
    /no recorded flow in namespace "shop"; there is one in namespace/,
  )
  cluster.faults.reject({ sender: 'test', kind: configMap, code: 429 })
  await rejects(cluster.client.of(configMap).create({ metadata: { name: 'a' } }, 'default', ctx), /too many requests/)
  await cluster.client.of(configMap).create({ metadata: { name: 'a' } }, 'default', ctx)
})

test('a slow store delays requests', async () => {
  await using cluster = await startCluster()
  cluster.faults.slowStore(2_000)
  const begun = cluster.clock.nowMs()
  const made = cluster.client.of(configMap).create({ metadata: { name: 'a' } }, 'default', ctx)
  await cluster.until(() => cluster.client.of(configMap).find('a', 'default', ctx))
  await made
  ok(cluster.clock.nowMs() - begun >= 2_000)
})

test('a client over HTTPS advances virtual time while it waits for a slow store, up to its timeout', async () => {
  await using cluster = await startCluster({ https: true, nodes: 0 })
  const { server, authority, identity } = parseKubeconfig(cluster.kubeconfig)
  const outbound = nodePlatform.outbound.connect({ origin: server, tls: { authority, ...identity } })
  const target = '/api/v1/namespaces/default/configmaps'
  const create = async (name: string): Promise<[status: number, text: string]> => {
    const body = JSON.stringify({ metadata: { name } })
    const headers = { 'content-type': 'application/json' }
    const response = await outbound.send({ method: 'POST', target, headers, body }, ctx.signal)
    return [response.status, Buffer.concat(await Array.fromAsync(response.body)).toString()]
  }
  cluster.faults.slowStore(2_000)
  const begun = cluster.clock.nowMs()
  equal((await create('a'))[0], 201)
  ok(cluster.clock.nowMs() - begun >= 2_000)
  cluster.faults.slowStore(7_200_000)
  const [status, text] = await create('b')
  equal(status, 504)
  match(text, /request did not complete within the allotted timeout/)
  cluster.faults.heal()
  equal((await create('c'))[0], 201)
  await outbound.close()
})

test('a node that loses power is detected, its pods are replaced, and it returns empty', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  await deploy(cluster, 2)
  await allRun(cluster, 2)
  await cluster.powerOff('node-0')
  await cluster.until(async () => {
    const { status } = await cluster.client.of(node).get('node-0', '', ctx)
    return status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'Unknown')
  })
  await cluster.until(async () => {
    const left = (await running(cluster)).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    return left.length === 2 && left.every(({ spec }) => spec.nodeName === 'node-1')
  }, '10m')
  cluster.start('kubelet/node-0')
  await cluster.until(async () => (await running(cluster)).length === 2, '10m')
  await rejects(cluster.powerOff('node-9'), /there is no simulated node node-9; there are node-0, node-1/)
})

test('commands that end by themselves do so: Jobs complete, and the Jobs of a CronJob are limited', async () => {
  await using cluster = await startCluster()
  const containers = [{ name: 'c', image: 'busybox', command: ['sh', '-c', 'date && sleep 5; exit 0'] }]
  const jobTemplate = { spec: { template: { spec: { restartPolicy: 'Never', containers } } } } as const
  const spec = { schedule: '* * * * *', jobTemplate }
  await cluster.client.of(cronJob).create({ metadata: { name: 'often' }, spec }, 'default', ctx)
  await cluster.clock.advance('10m')
  await cluster.clock.advance('30s')
  const { items } = await cluster.client.of(job).list({ namespace: 'default' }, ctx)
  deepEqual(
    items.map(({ status }) => [status.succeeded, status.active]),
    [
      [1, undefined],
      [1, undefined],
      [1, undefined],
    ],
    'three that have completed are kept',
  )
  equal((await cluster.client.of(pod).list({ namespace: 'default' }, ctx)).items.length, 3)
})

test('clusters of one process are isolated', async () => {
  const clusters = await Promise.all([startCluster(), startCluster({ nodes: 2 }), startCluster({ seed: 3 })])
  await Promise.all(clusters.map((cluster, index) => deploy(cluster, index)))
  await Promise.all(clusters.map((cluster, index) => allRun(cluster, index)))
  await Promise.all(clusters.map((cluster) => cluster.stop()))
})

test('on a real clock the cluster is reached over HTTPS and runs by itself', async () => {
  await using cluster = await startCluster({ time: 'flowing' })
  const { server, authority, identity } = parseKubeconfig(cluster.kubeconfig)
  equal(server, cluster.url)
  const tls = { authority, certificate: identity.certificate, key: identity.key }
  const outbound = nodePlatform.outbound.connect({ origin: server, tls })
  const target = '/api/v1/namespaces/default/pods'
  const body = JSON.stringify({ metadata: { name: 'alone' }, spec: template.spec })
  const headers = { 'content-type': 'application/json', 'user-agent': 'kubectl/v1.36.0' }
  const { status, body: answered } = await outbound.send({ method: 'POST', target, headers, body }, ctx.signal)
  for await (const _ of answered) continue
  equal(status, 201)
  await cluster.until(async () => (await running(cluster)).length === 1)
  match(cluster.flow(pod, 'alone'), /kubectl ──► API Server: create pods alone → 201/)
  await outbound.close()
})

test('a cluster without a listener reports that', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  throws(() => cluster.url, /listens nowhere: startCluster\(\{ https: true \}\)/)
  await rejects(
    cluster.until(() => false, '1s'),
    /it did not come to that within 1s/,
  )
})
