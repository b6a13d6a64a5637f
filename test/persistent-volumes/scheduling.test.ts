// Binder and scheduler together: claims with WaitForFirstConsumer are bound to the volumes of the chosen node, also when the
// controller manager is killed meanwhile.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import {
  context,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  startCluster,
  statefulSet,
  storageClass,
  type TestCluster,
} from '../../src/cluster/index.ts'

const ctx = context(new AbortController().signal)
const storageClassName = 'local'
const accessModes = ['ReadWriteOnce'] as const
const claimSpec = { accessModes: [...accessModes], storageClassName, resources: { requests: { storage: '1Gi' } } }
const app = { app: 'db' }

/** A class without a provisioner, and volumes on each of the nodes. */
async function createVolumes({ client }: TestCluster, nodes: number, perNode: number): Promise<void> {
  const provisioner = 'kubernetes.io/no-provisioner'
  const volumeBindingMode = 'WaitForFirstConsumer'
  await client
    .of(storageClass)
    .create({ metadata: { name: storageClassName }, provisioner, volumeBindingMode }, '', ctx)
  for (let node = 0; node < nodes; node++)
    for (let index = 0; index < perNode; index++) {
      const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In' as const, values: [`node-${node}`] }]
      const spec = {
        storageClassName,
        accessModes: [...accessModes],
        capacity: { storage: '1Gi' },
        hostPath: { path: `/srv/${index}`, type: 'DirectoryOrCreate' as const },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
      }
      await client.of(persistentVolume).create({ metadata: { name: `node-${node}-${index}` }, spec }, '', ctx)
    }
}

const createSet = ({ client }: TestCluster, replicas: number) =>
  client.of(statefulSet).create(
    {
      metadata: { name: 'db' },
      spec: {
        replicas,
        serviceName: 'db',
        selector: { matchLabels: app },
        podManagementPolicy: 'Parallel' as const,
        template: { metadata: { labels: app }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec }],
      },
    },
    'default',
    ctx,
  )

/** The node of each pod and the node of its volume, which must be the same. */
async function placements({ client }: TestCluster): Promise<(readonly [string | undefined, string | undefined])[]> {
  const pods = (await client.of(pod).list({ namespace: 'default' }, ctx)).items
  return Promise.all(
    pods.map(async ({ metadata, spec }) => {
      const claim = await client.of(persistentVolumeClaim).get(`data-${metadata.name}`, 'default', ctx)
      return [spec.nodeName, claim.spec.volumeName?.replace(/-\d+$/, '')] as const
    }),
  )
}

const untilReady = (cluster: TestCluster, replicas: number) =>
  cluster.until(
    async () => (await cluster.client.of(statefulSet).get('db', 'default', ctx)).status.readyReplicas === replicas,
    '10m',
  )

test('each pod of a StatefulSet runs on the node of its volume', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  await createVolumes(cluster, 2, 2)
  await createSet(cluster, 4)
  await untilReady(cluster, 4)
  const found = await placements(cluster)
  equal(found.length, 4)
  for (const [node, volume] of found) equal(node, volume)
  const volumes = (await cluster.client.of(persistentVolume).list({}, ctx)).items
  deepEqual(new Set(volumes.map(({ status }) => status.phase)), new Set(['Bound']))
})

test('the controllers are killed while claims are bound', async () => {
  const phasesSeen = new Set<string | undefined>()
  for (const killedAfterMs of [60, 100, 140, 180, 220]) {
    await using cluster = await startCluster({ nodes: 2 })
    await createVolumes(cluster, 2, 2)
    await cluster.clock.settle()
    const created = createSet(cluster, 4)
    // A write takes 10 ms, so the controllers are killed between the writes of a binding.
    cluster.faults.slowStore(10)
    await cluster.clock.advance(killedAfterMs)
    await created
    await cluster.kill('controllers')
    for (const { status } of (await cluster.client.of(persistentVolumeClaim).list({}, ctx)).items)
      phasesSeen.add(status.phase)
    await cluster.clock.advance('5s')
    cluster.start('controllers')
    await untilReady(cluster, 4)
    for (const [node, volume] of await placements(cluster)) equal(node, volume, `killed after ${killedAfterMs} ms`)
  }
  deepEqual(phasesSeen, new Set(['Bound', 'Pending']))
})
