// A pod whose volume cannot be bound or created as the scheduler has requested is scheduled again at once. The messages were
// recorded from kube-scheduler; all of them are in src/scheduler/plugins/volumes/binding-progress.test.ts.
import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import {
  context,
  event,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  startCluster,
  storageClass,
  type TestCluster,
} from '../../src/cluster/index.ts'

const ctx = context(new AbortController().signal)
const selectedNode = 'volume.kubernetes.io/selected-node'

/** A claim `data` whose class waits for the first pod. */
async function createClaim({ client }: TestCluster, provisioner: string): Promise<void> {
  const late = { provisioner, volumeBindingMode: 'WaitForFirstConsumer' } as const
  await client.of(storageClass).create({ metadata: { name: 'late' }, ...late }, ctx)
  const resources = { requests: { storage: '1Gi' } }
  const spec = { accessModes: ['ReadWriteOnce' as const], resources, storageClassName: 'late' }
  await client.of(persistentVolumeClaim).create({ metadata: { name: 'data' }, spec }, ctx)
}

async function createPod({ client }: TestCluster): Promise<void> {
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }]
  await client
    .of(pod)
    .create({ metadata: { name: 'web' }, spec: { containers: [{ name: 'c', image: 'i' }], volumes } }, ctx)
}

async function messagesOfPod({ client }: TestCluster): Promise<string> {
  const { items } = await client.of(event).list({ namespace: 'default' }, ctx)
  return items
    .filter(({ involvedObject }) => involvedObject.name === 'web')
    .map(({ message }) => message)
    .join('\n')
}

test('a pod is scheduled again when its volume cannot be provisioned for the node', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  const { client, clock } = cluster
  const claims = client.of(persistentVolumeClaim)
  await createClaim(cluster, 'example.com/none')
  await createPod(cluster)
  await clock.advance('1s')
  const selected = async () => (await claims.get('data', ctx)).metadata.annotations?.[selectedNode]
  match((await selected()) ?? '', /^node-/)
  await claims.patch('data', 'default', { metadata: { annotations: { [selectedNode]: null } } }, 'merge', ctx)
  await clock.advance(0)
  equal(await selected(), undefined)
  match(
    await messagesOfPod(cluster),
    /^running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "data"$/m,
  )
  await clock.advance('30s')
  match((await selected()) ?? '', /^node-/, 'the pod was scheduled again, long before the limit of ten minutes')
})

test('a pod is scheduled again when its volume was changed meanwhile', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  const { client, clock, faults } = cluster
  const volumes = client.of(persistentVolume)
  const spec = { accessModes: ['ReadWriteOnce' as const], capacity: { storage: '1Gi' }, storageClassName: 'late' }
  await volumes.create({ metadata: { name: 'v' }, spec: { ...spec, hostPath: { path: '/x' } } }, ctx)
  await createClaim(cluster, 'kubernetes.io/no-provisioner')
  await clock.advance('10s')
  // The pod is stored after one second and scheduled with the volume of that time; the change is stored half a second later.
  faults.slowStore(1_000)
  const changed = Promise.withResolvers<unknown>()
  clock.after(500, () => changed.resolve(volumes.patch('v', '', { metadata: { labels: { a: 'b' } } }, 'merge', ctx)))
  await createPod(cluster)
  await changed.promise
  await clock.advance('5s')
  match(
    await messagesOfPod(cluster),
    /^running PreBind plugin "VolumeBinding": Operation cannot be fulfilled on persistentvolumes "v": the object has been modified; please apply your changes to the latest version and try again$/m,
  )
  await clock.advance('1m')
  equal((await client.of(pod).get('web', ctx)).spec.nodeName, 'node-0')
  equal((await volumes.get('v', '', ctx)).spec.claimRef?.name, 'data')
})
