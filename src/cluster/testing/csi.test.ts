// A simulated storage driver on every node: a claim of its class, from the volume to the file of a container.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { csiNode } from '../../api/storage/v1/csi-node.ts'
import { storageClass } from '../../api/storage/v1/storage-class.ts'
import { persistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { startCluster } from './start-cluster.ts'

test('a pod with a claim of the simulated driver runs, and its volume is removed with the claim', async () => {
  await using cluster = await startCluster({ csi: {} })
  const { client } = cluster
  await client.of(storageClass).create({ metadata: { name: 'csi' }, provisioner: 'csi.coxswain.dev' })
  await cluster.until(async () => ((await client.of(csiNode).find('node-0'))?.spec.drivers?.length ?? 0) > 0)
  const resources = { requests: { storage: '1Gi' } }
  const spec = { accessModes: ['ReadWriteOnce' as const], resources, storageClassName: 'csi' }
  await client.of(persistentVolumeClaim).create({ metadata: { name: 'data' }, spec })
  await client.of(pod).create({
    metadata: { name: 'p' },
    spec: {
      containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/data' }] }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
    },
  })
  await cluster.until(async () => (await client.of(pod).get('p')).status.phase === 'Running')
  const claim = await client.of(persistentVolumeClaim).get('data')
  equal(claim.status.phase, 'Bound')
  match(claim.spec.volumeName ?? '', /^pvc-/)
  equal(cluster.csi.records.volumes.size, 1)
  await client.of(pod).delete('p')
  await client.of(persistentVolumeClaim).delete('data')
  await cluster.until(() => cluster.csi.records.volumes.size === 0)
  deepEqual(await client.of(persistentVolumeClaim).find('data'), undefined)
})
