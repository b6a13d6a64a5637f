// The usage in a quota's status while objects are created, changed and deleted; and that it never exceeds the limit.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../base/random/random.ts'
import { pod } from '../api/core/v1/pod/pod.ts'
import { resourceQuota } from '../api/core/v1/quota/resource-quota.ts'
import { secret } from '../api/core/v1/secret.ts'
import { service } from '../api/core/v1/service/service.ts'
import { customResourceDefinition } from '../api/apiextensions/v1/custom-resource-definition.ts'
import { bareKind } from '../api/kind/bare-kind.ts'
import { hasReason } from '../api/errors/status-error.ts'
import { context, startCluster, type TestCluster } from '../cluster/index.ts'

const ctx = context(new AbortController().signal)
const home = 'default'

async function startLimited(spec: object, options: { seed?: number; nodes?: number } = {}) {
  const cluster = await startCluster({ nodes: 0, ...options })
  await cluster.client.of(resourceQuota).create({ metadata: { name: 'q' }, spec }, home, ctx)
  await cluster.clock.advance('1s')
  return cluster
}

const statusOf = async ({ client }: TestCluster) => (await client.of(resourceQuota).get('q', home, ctx)).status
const usedOf = async (cluster: TestCluster) => (await statusOf(cluster)).used

const attempted = async (call: Promise<unknown>): Promise<boolean> => {
  try {
    await call
    return true
  } catch (error) {
    if (hasReason(error, 'Forbidden')) return false
    throw error
  }
}
const makeSecret = ({ client }: TestCluster) =>
  attempted(client.of(secret).create({ metadata: { generateName: 'c-' } }, home, ctx))

test('of 50 creates against 10 exactly 10 succeed, and again after deletes', async () => {
  await using cluster = await startLimited({ hard: { 'count/secrets': '10' } })
  const secrets = cluster.client.of(secret)
  const present = async () => (await secrets.list({ namespace: home }, ctx)).items
  for (const free of [10, 4, 10]) {
    const made = await Promise.all(Array.from({ length: 50 }, () => makeSecret(cluster)))
    equal(made.filter(Boolean).length, free)
    equal((await present()).length, 10)
    deepEqual(await usedOf(cluster), { 'count/secrets': '10' })
    const going = free === 10 ? (await present()).slice(0, 4) : await present()
    await Promise.all(going.map(({ metadata }) => secrets.delete(metadata.name, home, {}, ctx)))
    await cluster.clock.advance('1s')
    deepEqual(await usedOf(cluster), { 'count/secrets': String(10 - going.length) })
  }
})

for (const seed of [1, 2, 3, 4, 5])
  test(`concurrent creates and deletes never exceed the limit, and the final count is exact: seed ${seed}`, async () => {
    await using cluster = await startLimited({ hard: { 'count/secrets': '10' } }, { seed })
    const secrets = cluster.client.of(secret)
    const random = seededRandom(seed)
    for (let turn = 0; turn < 60; turn++) {
      const { items } = await secrets.list({ namespace: home }, ctx)
      ok(items.length <= 10, `${items.length} Secrets`)
      const going = items.filter(() => random.below(3) === 0)
      const work = [
        ...going.map(({ metadata }) => attempted(secrets.delete(metadata.name, home, {}, ctx))),
        ...Array.from({ length: random.below(8) }, () => makeSecret(cluster)),
      ]
      // Time advances while the requests are in progress, so that recounts happen between them.
      await cluster.clock.advance(random.below(150))
      await Promise.all(work)
    }
    await cluster.clock.advance('1m')
    const { items } = await secrets.list({ namespace: home }, ctx)
    deepEqual(await usedOf(cluster), { 'count/secrets': String(items.length) })
  })

test('existing objects are counted when a quota is created or changed; unknown resources are left out', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  for (const name of ['a', 'b']) await client.of(secret).create({ metadata: { name } }, home, ctx)
  const hard = { secrets: '9', 'count/widgets.example.com': '1' }
  await client.of(resourceQuota).create({ metadata: { name: 'q' }, spec: { hard } }, home, ctx)
  await clock.advance('1s')
  deepEqual(await statusOf(cluster), { hard, used: { secrets: '2' } })
  await client.of(resourceQuota).patch('q', home, { spec: { hard: { services: '3' } } }, 'merge', ctx)
  await clock.advance('1s')
  deepEqual(await statusOf(cluster), { hard: { ...hard, services: '3' }, used: { secrets: '2', services: '1' } })
  await client.of(resourceQuota).patch('q', home, { spec: { hard: { secrets: null } } }, 'merge', ctx)
  await clock.advance('1s')
  deepEqual((await statusOf(cluster)).used, { services: '1' })
})

test('usage decreases when objects finish or shrink, also while the controller is down', async () => {
  const hard = { pods: '5', 'requests.cpu': '2', 'services.nodeports': '3' }
  await using cluster = await startLimited({ hard })
  const { client, clock } = cluster
  const spec = { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '500m' } } }] }
  for (const name of ['a', 'b']) await client.of(pod).create({ metadata: { name }, spec }, home, ctx)
  const ports = [{ name: 'x', port: 1 }]
  await client.of(service).create({ metadata: { name: 's' }, spec: { type: 'NodePort', ports } }, home, ctx)
  deepEqual(await usedOf(cluster), { pods: '2', 'requests.cpu': '1', 'services.nodeports': '1' })
  await client.of(pod).patch('a', home, { status: { phase: 'Succeeded' } }, 'merge', ctx, 'status')
  await client.of(service).patch('s', home, { spec: { type: 'ClusterIP' } }, 'merge', ctx)
  await clock.advance('1s')
  deepEqual(await usedOf(cluster), { pods: '1', 'requests.cpu': '500m', 'services.nodeports': '0' })
  await cluster.kill('controllers')
  await client.of(pod).delete('b', home, { gracePeriodSeconds: 0 }, ctx)
  cluster.start('controllers')
  await clock.advance('1s')
  deepEqual(await usedOf(cluster), { pods: '0', 'requests.cpu': '0', 'services.nodeports': '0' })
})

test('a pod with an overdue termination is not counted, and a wrong status is corrected', async () => {
  await using cluster = await startLimited({ hard: { pods: '5' } }, { nodes: 1 })
  const { client, clock } = cluster
  await client.of(pod).create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }, home, ctx)
  await clock.advance('5s')
  await cluster.kill('kubelet/node-0')
  await client.of(pod).delete('p', home, {}, ctx)
  await clock.advance('10s')
  deepEqual(await usedOf(cluster), { pods: '1' })
  await clock.advance('6m')
  deepEqual(await usedOf(cluster), { pods: '0' })
  await client.of(resourceQuota).patch('q', home, { status: { used: { pods: '4' } } }, 'merge', ctx, 'status')
  await clock.advance('5m')
  deepEqual(await usedOf(cluster), { pods: '0' })
})

test('an object that was not charged to a new quota is counted soon', async () => {
  await using cluster = await startLimited({ hard: { 'count/secrets': '10' } })
  await makeSecret(cluster)
  const quotas = cluster.client.of(resourceQuota)
  const quota = await quotas.get('q', home, ctx)
  await quotas.updateStatus({ ...quota, status: { ...quota.status, used: { 'count/secrets': '0' } } }, ctx)
  await cluster.clock.advance('10s')
  deepEqual(await usedOf(cluster), { 'count/secrets': '1' })
})

test('custom objects are counted while their resource is served', async () => {
  const count = 'count/widgets.example.com'
  await using cluster = await startLimited({ hard: { [count]: '2', secrets: '9' } })
  const { client, clock } = cluster
  const usedBesides = async () => (await usedOf(cluster))?.[count]
  equal(await usedBesides(), undefined)
  const schema = { openAPIV3Schema: { type: 'object' } }
  const definition = {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema })),
    },
  }
  await client.of(customResourceDefinition).create(definition, '', ctx)
  await clock.advance('5s')
  equal(await usedBesides(), '0')
  const [v1, v2] = ['v1', 'v2'].map((version) =>
    client.of(
      bareKind({
        group: 'example.com',
        version,
        kind: 'Widget',
        plural: 'widgets',
        singular: 'widget',
        namespaced: true,
      }),
    ),
  )
  const create = (of: typeof v1, version: string, name: string) =>
    attempted(
      of?.create({ apiVersion: `example.com/${version}`, kind: 'Widget', metadata: { name } }, home, ctx) ??
        Promise.resolve(),
    )
  deepEqual(
    [await create(v1, 'v1', 'a'), await create(v2, 'v2', 'b'), await create(v1, 'v1', 'c')],
    [true, true, false],
  )
  equal(await usedBesides(), '2')
  await v2?.delete('a', home, {}, ctx)
  await clock.advance('1s')
  equal(await usedBesides(), '1')
  await client.of(customResourceDefinition).delete('widgets.example.com', '', {}, ctx)
  await clock.advance('5s')
  equal(await usedBesides(), undefined)
})
