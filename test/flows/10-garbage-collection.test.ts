// Flow 10: dependents are deleted with their owners: in the background, in the foreground, or not at all.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import {
  configMap,
  context,
  deployment,
  event,
  pod,
  replicaSet,
  startCluster,
  type ApiObject,
  type TestCluster,
} from '../../src/cluster/index.ts'
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
  collector: 'runs' | 'is dead for a while' = 'runs',
) {
  await using cluster = await start()
  if (collector !== 'runs') await cluster.kill('controllers')
  await cluster.client.of(deployment).delete('web', 'default', { propagationPolicy }, ctx)
  if (collector !== 'runs') await cluster.clock.advance('10s')
  cluster.start('controllers')
  await cluster.clock.advance('30s')
  const flow = cluster.flow(deployment, 'web')
  return { left: await left(cluster), flow: since(flow, 'delete deployments web') }
}

const ownedBy = ({ apiVersion, kind, metadata: { name, uid } }: ApiObject) => [
  { apiVersion, kind, name, uid, blockOwnerDeletion: true },
]

/** Two objects that own each other; the first is deleted in the foreground. */
async function circle(): Promise<string> {
  await using cluster = await startCluster({ nodes: 0 })
  const maps = cluster.client.of(configMap)
  const first = await maps.create({ metadata: { name: 'first' } }, 'default', ctx)
  const ownerReferences = ownedBy(first)
  const second = await maps.create({ metadata: { name: 'second', ownerReferences } }, 'default', ctx)
  await maps.patch('first', 'default', { metadata: { ownerReferences: ownedBy(second) } }, 'merge', ctx)
  await cluster.clock.advance('5s')
  await maps.delete('first', 'default', { propagationPolicy: 'Foreground' }, ctx)
  await cluster.clock.advance('30s')
  const remaining = await Promise.all(['first', 'second'].map((name) => maps.find(name, 'default', ctx)))
  deepEqual(remaining, [undefined, undefined], 'no object waits forever')
  return since(cluster.flow(configMap, 'first'), 'delete configmaps first')
}

/** An object whose owner is in another namespace. */
async function astray(): Promise<string> {
  await using cluster = await startCluster({ nodes: 0 })
  const maps = cluster.client.of(configMap)
  const there = await maps.create({ metadata: { name: 'there' } }, 'kube-system', ctx)
  await cluster.clock.advance('5s')
  await maps.create({ metadata: { name: 'here', ownerReferences: ownedBy(there) } }, 'default', ctx)
  await cluster.clock.advance('30s')
  equal(await maps.find('here', 'default', ctx), undefined)
  equal((await maps.get('there', 'kube-system', ctx)).metadata.name, 'there')
  const recorded = (await cluster.client.of(event).list({ fieldSelector: 'involvedObject.name=here' }, ctx)).items
  deepEqual(
    recorded.map(({ reason }) => reason),
    ['OwnerRefInvalidNamespace'],
  )
  return cluster.flow(configMap, 'here')
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
  const restarted = await deleted('Foreground', 'is dead for a while')
  deepEqual(restarted.left, [0, 0, 0], 'a restart in the middle')
  equal(orphan.flow.includes('delete replicasets'), false)

  const arrows = [
    /test ──► API Server: delete deployments web/,
    /Store: delete deployment web/,
    /controller\/garbage-collector ──► API Server: \S+ (deployments|replicasets|pods) \S+ → 200/,
  ]
  await comparePage(
    '10-garbage-collection',
    'Garbage collection',
    [
      {
        heading: 'Background',
        text: 'The owner is deleted immediately, its dependents afterwards.',
        diagram: excerpt(background.flow, ...arrows),
      },
      {
        heading: 'Foreground',
        text: 'A finalizer keeps the owner until its dependents are deleted.',
        diagram: excerpt(foreground.flow, ...arrows),
      },
      {
        heading: 'Orphan',
        text: 'The owner references of the dependents are removed first.',
        diagram: excerpt(orphan.flow, ...arrows),
      },
      {
        heading: 'The collector restarts',
        text: 'The collector is down when the owner is deleted in the foreground. Ten seconds later another one finds the finalizer and continues.',
        diagram: excerpt(restarted.flow, ...arrows),
      },
      {
        heading: 'A cycle of owners',
        text: "Two objects own each other and block each other's deletion. The collector detects the cycle and removes the block, and both are deleted.",
        diagram: excerpt(await circle(), /configmaps? (first|second)/),
      },
      {
        heading: 'An owner in another namespace',
        text: 'Such a reference is invalid: the dependent is deleted, and an event gives the reason (OwnerRefInvalidNamespace).',
        diagram: excerpt(await astray(), /configmaps? here/),
      },
    ],
    [
      [
        'the collector stops during a collection',
        'the next one continues from the current objects',
        'src/controllers/runtime/discovered-kinds.test.ts',
      ],
      [
        'discovery is down',
        'known kinds are still collected, and dependents of a kind that is not served are kept',
        'src/controllers/runtime/discovered-kinds.test.ts',
      ],
      [
        'owners and dependents of custom kinds',
        'the collector reads its kinds from discovery and treats them like all others',
        'src/controllers/runtime/discovered-kinds.test.ts',
      ],
    ],
  )
})
