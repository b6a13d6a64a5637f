// The kinds of snapshots are served, and their controller has the permissions that it needs.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { customResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import { persistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import {
  volumeSnapshot,
  volumeSnapshotClass,
  volumeSnapshotContent,
} from '../../storage/csi/snapshots/snapshot-kinds.ts'
import { startCluster } from '../testing/start-cluster.ts'

const ctx = context(new AbortController().signal)

test('a cluster has the kinds of snapshots on request only', async () => {
  await using without = await startCluster({ nodes: 0 })
  equal((await without.client.of(customResourceDefinition).list({}, ctx)).items.length, 0)
  equal(without.components.includes('snapshot-controller'), false)
})

test('the snapshot controller makes the content of a snapshot, also after it was killed', async () => {
  await using cluster = await startCluster({ nodes: 0, controllerManagers: 0, volumeSnapshots: true })
  const { client, clock } = cluster
  const driver = 'csi.example.com'
  await client.of(volumeSnapshotClass).create({ metadata: { name: 'c' }, driver, deletionPolicy: 'Delete' }, ctx)
  const resources = { storage: '1Gi' }
  const accessModes = ['ReadWriteOnce' as const]
  await client
    .of(persistentVolume)
    .create(
      { metadata: { name: 'v' }, spec: { capacity: resources, accessModes, csi: { driver, volumeHandle: 'h' } } },
      ctx,
    )
  const claims = client.of(persistentVolumeClaim)
  const spec = { accessModes, resources: { requests: resources }, volumeName: 'v', storageClassName: '' }
  const claim = await claims.create({ metadata: { name: 'web' }, spec }, ctx)
  await claims.updateStatus({ ...claim, status: { phase: 'Bound' } }, ctx)
  await cluster.kill('snapshot-controller')
  cluster.start('snapshot-controller')
  const source = { persistentVolumeClaimName: 'web' }
  const created = await client
    .of(volumeSnapshot)
    .create({ metadata: { name: 's' }, spec: { source, volumeSnapshotClassName: 'c' } }, ctx)
  await clock.advance('5s')
  const { items } = await client.of(volumeSnapshotContent).list({}, ctx)
  deepEqual(
    items.map(({ metadata, spec: { source: from } }) => [metadata.name, from.volumeHandle]),
    [[`snapcontent-${created.metadata.uid}`, 'h']],
  )
  const { status } = await client.of(volumeSnapshot).get('s', ctx)
  equal(status?.boundVolumeSnapshotContentName, `snapcontent-${created.metadata.uid}`)
})
