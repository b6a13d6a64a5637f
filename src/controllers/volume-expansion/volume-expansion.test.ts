// Events of the expansion controller, as upstream's: recorded with a claim of each volume type.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { event } from '../../api/core/v1/event.ts'
import { persistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { storageClass } from '../../api/storage/v1/storage-class.ts'
import { startCluster, type TestCluster } from '../../cluster/testing/start-cluster.ts'

const waiting = 'waiting for an external controller to expand this PVC'
const migrated = (plugin: string) =>
  `CSI migration enabled for kubernetes.io/${plugin}; waiting for external resizer to expand the pvc`
const accessModes = ['ReadWriteOnce']

const sources: [type: string, source: object, message: string, resizer?: string][] = [
  ['csi', { csi: { driver: 'd', volumeHandle: 'h' } }, waiting],
  ['nfs', { nfs: { server: 's', path: '/' } }, waiting],
  ['gce', { gcePersistentDisk: { pdName: 'p' } }, migrated('gce-pd'), 'pd.csi.storage.gke.io'],
  ['aws', { awsElasticBlockStore: { volumeID: 'v' } }, migrated('aws-ebs'), 'ebs.csi.aws.com'],
  ['portworx', { portworxVolume: { volumeID: 'v' } }, migrated('portworx-volume'), 'pxd.portworx.com'],
]

async function bound({ client }: TestCluster, name: string, source: object): Promise<void> {
  const claims = client.of(persistentVolumeClaim)
  const resources = { requests: { storage: '1Gi' } }
  const claim = await claims.create({
    metadata: { name, annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
    spec: { accessModes, storageClassName: 'c', resources, volumeName: name },
  })
  const claimRef = { kind: 'PersistentVolumeClaim', namespace: 'default', name, uid: claim.metadata.uid }
  const spec = { capacity: { storage: '1Gi' }, accessModes, storageClassName: 'c', claimRef, ...source }
  await client.of(persistentVolume).create({ metadata: { name }, spec })
  const status = { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes }
  await claims.patch(name, 'default', { status }, 'merge', undefined, 'status')
  await client.of(persistentVolume).patch(name, '', { status: { phase: 'Bound' } }, 'merge', undefined, 'status')
}

const expand = ({ client }: TestCluster, name: string, storage: string) =>
  client.of(persistentVolumeClaim).patch(name, 'default', { spec: { resources: { requests: { storage } } } }, 'merge')

async function eventsOf({ client, clock }: TestCluster, name: string): Promise<[string, string, number][]> {
  await clock.advance(1_000)
  const { items } = await client.of(event).list({ namespace: 'default' })
  return items
    .filter(({ source, involvedObject }) => source?.component === 'volume_expand' && involvedObject.name === name)
    .map(({ reason, message, count }) => [reason ?? '', message ?? '', count ?? 0])
}

async function clusterWithClass(): Promise<TestCluster> {
  const cluster = await startCluster({ nodes: 0 })
  await cluster.client
    .of(storageClass)
    .create({ metadata: { name: 'c' }, provisioner: 'd', allowVolumeExpansion: true })
  return cluster
}

for (const [type, source, message, resizer] of sources)
  test(`a claim with a volume of type ${type} waits for its resizer`, async () => {
    await using cluster = await clusterWithClass()
    await bound(cluster, 'v', source)
    deepEqual(await eventsOf(cluster, 'v'), [])
    await expand(cluster, 'v', '2Gi')
    deepEqual(await eventsOf(cluster, 'v'), [['ExternalExpanding', message, 1]])
    const { metadata } = await cluster.client.of(persistentVolumeClaim).get('v')
    equal(metadata.annotations?.['volume.kubernetes.io/storage-resizer'], resizer)
  })

test('the event is repeated when the request or the capacity changes, not for other changes', async () => {
  await using cluster = await clusterWithClass()
  await bound(cluster, 'v', { csi: { driver: 'd', volumeHandle: 'h' } })
  await expand(cluster, 'v', '2Gi')
  await eventsOf(cluster, 'v')
  const claims = cluster.client.of(persistentVolumeClaim)
  await claims.patch('v', 'default', { metadata: { labels: { a: 'b' } } }, 'merge')
  deepEqual(await eventsOf(cluster, 'v'), [['ExternalExpanding', waiting, 1]])
  await expand(cluster, 'v', '3Gi')
  deepEqual(await eventsOf(cluster, 'v'), [['ExternalExpanding', waiting, 2]])
  await claims.patch('v', 'default', { status: { capacity: { storage: '2Gi' } } }, 'merge', undefined, 'status')
  deepEqual(await eventsOf(cluster, 'v'), [['ExternalExpanding', waiting, 3]])
  await claims.patch('v', 'default', { status: { capacity: { storage: '3Gi' } } }, 'merge', undefined, 'status')
  deepEqual(await eventsOf(cluster, 'v'), [['ExternalExpanding', waiting, 3]])
})
