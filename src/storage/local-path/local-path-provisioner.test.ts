// The provisioner with the controllers, the scheduler and simulated nodes: from a claim to its files, and back.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import {
  event,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  startCluster,
  storageClass,
  type ContainerFiles,
  type SimulatedProcess,
  type TestCluster,
} from '../../cluster/index.ts'
import type { PersistentVolumeInput } from '../../api/core/v1/volume/persistent-volume.ts'

const home = 'default'
const mode = 'ReadWriteOnce'

async function start(nodes = 1) {
  const files = new Map<string, ContainerFiles>()
  const image = (process: SimulatedProcess) => {
    files.set(process.pod.name, process.files)
    return new Promise<number>((resolve) => process.terminated.addEventListener('abort', () => resolve(0)))
  }
  const cluster = await startCluster({ nodes, localPath: true, simulation: { images: { image } } })
  const filesOf = (name: string) => files.get(name) as ContainerFiles
  return { cluster, client: cluster.client, filesOf, [Symbol.asyncDispose]: () => cluster.stop() }
}

const claimOf = (name: string, more: object = {}) => ({
  metadata: { name },
  spec: { accessModes: [mode], resources: { requests: { storage: '10' } }, ...more },
})
const podOf = (name: string, claimName: string) => ({
  metadata: { name },
  spec: {
    containers: [{ name: 'c', image: 'image', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
    terminationGracePeriodSeconds: 0,
  },
})
const isRunning =
  ({ client }: TestCluster, name: string) =>
  async () =>
    (await client.of(pod).get(name)).status.phase === 'Running'
const isGone =
  ({ client }: TestCluster, name: string) =>
  async () =>
    (await client.of(pod).find(name)) === undefined
const reasonsOf = async ({ client }: TestCluster, name: string) =>
  (await client.of(event).list({ fieldSelector: `involvedObject.name=${name}` })).items
const volumesOf = async ({ client }: TestCluster) => (await client.of(persistentVolume).list()).items

test('a claim gets a volume on the node of its first pod, which keeps its files until the claim is deleted', async () => {
  await using world = await start(2)
  const { cluster, client, filesOf } = world
  await client.of(persistentVolumeClaim).create(claimOf('data'))
  await cluster.clock.advance('10s')
  deepEqual(await volumesOf(cluster), [], 'it waits for its first pod')
  await client.of(pod).create(podOf('a', 'data'))
  await cluster.until(isRunning(cluster, 'a'))
  await filesOf('a').write('/data/x', 'kept')

  const claim = await client.of(persistentVolumeClaim).get('data')
  const [volume] = await volumesOf(cluster)
  const { nodeName } = (await client.of(pod).get('a')).spec
  equal(volume?.metadata.name, `pvc-${claim.metadata.uid}`)
  equal(volume?.metadata.annotations?.['pv.kubernetes.io/provisioned-by'], 'coxswain.dev/local-path')
  deepEqual(volume?.metadata.finalizers?.toSorted(), [
    'external-provisioner.volume.kubernetes.io/finalizer',
    'kubernetes.io/pv-protection',
  ])
  deepEqual(volume?.spec.local, { path: `/volumes/pvc-${claim.metadata.uid}` })
  deepEqual(volume?.spec.nodeAffinity?.required?.nodeSelectorTerms, [
    { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [nodeName] }] },
  ])
  equal(claim.status.phase, 'Bound')
  const events = await reasonsOf(cluster, 'data')
  const messageOf = (reason: string) => events.find((each) => each.reason === reason)?.message
  equal(messageOf('Provisioning'), 'External provisioner is provisioning volume for claim "default/data"')
  equal(messageOf('ProvisioningSucceeded'), `Successfully provisioned volume pvc-${claim.metadata.uid}`)

  await client.of(pod).delete('a')
  await cluster.until(isGone(cluster, 'a'))
  await client.of(pod).create(podOf('b', 'data'))
  await cluster.until(isRunning(cluster, 'b'))
  equal((await client.of(pod).get('b')).spec.nodeName, nodeName, 'its files are on that node')
  equal(await filesOf('b').read('/data/x'), 'kept')

  await client.of(persistentVolumeClaim).delete('data')
  await cluster.clock.advance('10s')
  equal((await volumesOf(cluster)).length, 1, 'it is in use')
  await client.of(pod).delete('b')
  await cluster.until(async () => (await volumesOf(cluster)).length === 0)
  await client.of(persistentVolumeClaim).create(claimOf('data'))
  await client.of(pod).create(podOf('c', 'data'))
  await cluster.until(isRunning(cluster, 'c'))
  deepEqual(await filesOf('c').list('/data'), [])
})

test('the size of a volume is limited, and grows with its claim', async () => {
  await using world = await start()
  const { cluster, client, filesOf } = world
  await client.of(persistentVolumeClaim).create(claimOf('data'))
  await client.of(pod).create(podOf('a', 'data'))
  await cluster.until(isRunning(cluster, 'a'))
  await rejects(filesOf('a').write('/data/x', '12345678901'), { code: 'ENOSPC' })
  await client.of(persistentVolumeClaim).patch('data', { spec: { resources: { requests: { storage: '20' } } } })
  await cluster.until(
    async () => (await client.of(persistentVolumeClaim).get('data')).status.capacity?.['storage'] === '20',
  )
  await filesOf('a').write('/data/x', '12345678901')
  equal((await volumesOf(cluster))[0]?.spec.capacity?.['storage'], '20')
  await cluster.clock.advance('1s')
  const reasons = (await reasonsOf(cluster, 'data')).map(({ reason }) => reason)
  equal(reasons.includes('Resizing') && reasons.includes('VolumeResizeSuccessful'), true)
})

test('a claim that a directory cannot satisfy is rejected with an event', async () => {
  await using world = await start()
  const { cluster, client } = world
  await client.of(persistentVolumeClaim).create(claimOf('data', { accessModes: ['ReadWriteMany'] }))
  await client.of(pod).create(podOf('a', 'data'))
  await cluster.clock.advance('10s')
  const failed = (await reasonsOf(cluster, 'data')).find(({ reason }) => reason === 'ProvisioningFailed')
  match(failed?.message ?? '', /^failed to provision volume with StorageClass "local-path": access mode ReadWriteMany/)
})

test('a restarted provisioner continues, and a retained volume keeps its files and can be deleted', async () => {
  await using world = await start()
  const { cluster, client, filesOf } = world
  await cluster.kill('local-path/simulated')
  const { metadata: _, ...rest } = await client.of(storageClass).get('local-path')
  await client.of(storageClass).create({ ...rest, metadata: { name: 'kept' }, reclaimPolicy: 'Retain' })
  await client.of(persistentVolumeClaim).create(claimOf('data', { storageClassName: 'kept' }))
  await client.of(pod).create(podOf('a', 'data'))
  await cluster.clock.advance('10s')
  deepEqual(await volumesOf(cluster), [])
  cluster.start('local-path/simulated')
  await cluster.until(isRunning(cluster, 'a'))
  await filesOf('a').write('/data/x', 'kept')
  await client.of(pod).delete('a')
  await cluster.until(isGone(cluster, 'a'))
  await client.of(persistentVolumeClaim).delete('data')
  await cluster.until(async () => (await volumesOf(cluster))[0]?.status.phase === 'Released')
  const [volume] = await volumesOf(cluster)
  await client.of(persistentVolume).delete(volume?.metadata.name ?? '')
  await cluster.until(async () => (await volumesOf(cluster)).length === 0)
})

const forgedOf = (name: string, nodeName: string): PersistentVolumeInput => ({
  metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': 'coxswain.dev/local-path' } },
  spec: {
    accessModes: [mode],
    capacity: { storage: '10' },
    storageClassName: 'local-path',
    local: { path: '/etc' },
    persistentVolumeReclaimPolicy: 'Delete',
    claimRef: { kind: 'PersistentVolumeClaim', namespace: home, name: 'gone', uid: 'gone' },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [nodeName] }] },
        ],
      },
    },
  },
})

test('a released volume is not removed if its path was changed, or by another node', async () => {
  await using world = await start()
  const { cluster, client } = world
  await client.of(persistentVolume).create(forgedOf('pvc-forged', 'node-0'))
  await client.of(persistentVolume).create(forgedOf('pvc-elsewhere', 'elsewhere'))
  await cluster.clock.advance('10s')
  deepEqual(
    (await volumesOf(cluster)).map(({ metadata, status }) => [metadata.name, status.phase]),
    [
      ['pvc-elsewhere', 'Released'],
      ['pvc-forged', 'Released'],
    ],
  )
  const failed = (await reasonsOf(cluster, 'pvc-forged')).find(({ reason }) => reason === 'VolumeFailedDelete')
  equal(failed?.message, '/etc is not the directory of the volume')
  deepEqual(await reasonsOf(cluster, 'pvc-elsewhere'), [])
})

test('directories of simulated nodes are created again after a restore, because they are in memory', async () => {
  await using world = await start()
  const { cluster, client } = world
  await client.of(persistentVolumeClaim).create(claimOf('data'))
  await client.of(pod).create(podOf('a', 'data'))
  await cluster.until(isRunning(cluster, 'a'))
  const { metadata } = await client.of(pod).get('a')
  await cluster.restore(cluster.snapshot())
  await cluster.until(isRunning(cluster, 'a'))
  equal((await client.of(pod).get('a')).metadata.uid, metadata.uid)
})
