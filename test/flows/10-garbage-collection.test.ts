// Flow 10: what has owners goes with them: in the background, first, or not at all.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context, deployment, pod, replicaSet, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { comparePage, excerpt, inOrder, since } from './page.ts'

const ctx = context(new AbortController().signal)
const labels = { app: 'web' }

async function start(): Promise<TestCluster> {
  const cluster = await startCluster()
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 1 },
  }
  const spec = { replicas: 1, selector: { matchLabels: labels }, template }
  await cluster.client.of(deployment).create({ metadata: { name: 'web' }, spec }, 'default', ctx)
  await cluster.clock.advance('5s')
  return cluster
}

const left = async ({ client }: TestCluster) =>
  await Promise.all(
    [deployment, replicaSet, pod].map(
      async (kind) => (await client.of(kind as typeof pod).list({ namespace: 'default' }, ctx)).items.length,
    ),
  )

async function deleted(
  propagationPolicy: 'Background' | 'Foreground' | 'Orphan',
  disturb?: (cluster: TestCluster) => Promise<void>,
) {
  await using cluster = await start()
  await cluster.client.of(deployment).delete('web', 'default', { propagationPolicy }, ctx)
  await disturb?.(cluster)
  await cluster.clock.advance('30s')
  const flow = cluster.flow(deployment, 'web')
  return { left: await left(cluster), flow: since(flow, 'delete deployments web') }
}

test('10 garbage collection', async () => {
  const background = await deleted('Background')
  deepEqual(background.left, [0, 0, 0])
  inOrder(
    background.flow,
    /API Server ══► Store: delete deployment web/,
    /API Server --► controller\/garbage-collector: DELETED deployments web/,
    /controller\/garbage-collector ──► API Server: delete replicasets web-\w+ → 200/,
    /controller\/garbage-collector ──► API Server: delete pods web-\w+-\w+ → 200/,
  )
  const foreground = await deleted('Foreground')
  deepEqual(foreground.left, [0, 0, 0])
  inOrder(
    foreground.flow,
    /API Server ══► Store: put deployment web/,
    /controller\/garbage-collector ──► API Server: delete replicasets web-\w+ → 200/,
    /controller\/garbage-collector ──► API Server: delete pods web-\w+-\w+ → 200/,
  )
  const orphan = await deleted('Orphan')
  deepEqual(orphan.left, [0, 1, 1])
  const restarted = await deleted('Foreground', async (cluster) => {
    await cluster.kill('controllers')
    await cluster.clock.advance('1s')
    cluster.start('controllers')
  })
  deepEqual(restarted.left, [0, 0, 0], 'a restart in the middle')
  equal(orphan.flow.includes('delete replicasets'), false)

  const arrows = [
    /test ──► API Server: delete deployments web/,
    /Store: delete deployment web/,
    /controller\/garbage-collector ──► API Server: \S+ (deployments|replicasets|pods) \S+ → 200/,
  ]
  await comparePage('10-garbage-collection', 'Garbage collection', [
    {
      heading: 'Background',
      text: 'The owner goes at once, its dependents after it.',
      diagram: excerpt(background.flow, ...arrows),
    },
    {
      heading: 'Foreground',
      text: 'The owner waits for its dependents, held by a finalizer.',
      diagram: excerpt(foreground.flow, ...arrows),
    },
    { heading: 'Orphan', text: 'The dependents are set free first.', diagram: excerpt(orphan.flow, ...arrows) },
  ])
})
