// VolumeAttachments are attached and detached: the requests of an external-attacher, against the API.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { secret } from '../../../api/core/v1/secret.ts'
import { persistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { volumeAttachment } from '../../../api/storage/v1/volume-attachment.ts'
import { ctx, driverName, startSidecars, type SidecarCluster } from '../sidecars.harness.ts'
import { attacherFinalizer } from './attacher.ts'

const finalizer = 'external-attacher/csi-coxswain-dev'
const attachments = ({ client }: SidecarCluster) => client.of(volumeAttachment)

/** A provisioned volume and a request to attach it. */
async function attaching(cluster: SidecarCluster, nodeName = 'node-1'): Promise<string> {
  await cluster.storageClass({
    parameters: {
      'csi.storage.k8s.io/controller-publish-secret-name': 'key',
      'csi.storage.k8s.io/controller-publish-secret-namespace': 'default',
    },
  })
  await cluster.client.of(secret).create({ metadata: { name: 'key' }, stringData: { a: 'b' } }, 'default', ctx)
  const { metadata } = await cluster.claim('web')
  const persistentVolumeName = `pvc-${metadata.uid}`
  const spec = { attacher: driverName, nodeName, source: { persistentVolumeName } }
  await attachments(cluster).create({ metadata: { name: 'a' }, spec }, ctx)
  await cluster.clock.settle()
  return persistentVolumeName
}

test('the finalizer has the name of the driver', () => {
  deepEqual(
    [attacherFinalizer('csi.example.com'), attacherFinalizer('a.b.')],
    ['external-attacher/csi-example-com', 'external-attacher/a-b-X'],
  )
})

test('a volume is attached, and detached when the object is deleted', async () => {
  await using cluster = await startSidecars()
  const volume = await attaching(cluster)
  const { metadata, status } = await attachments(cluster).get('a', ctx)
  deepEqual(metadata.finalizers, [finalizer])
  equal(metadata.annotations?.['csi.alpha.kubernetes.io/node-id'], 'id-of-node-1')
  deepEqual(status, { attached: true, attachmentMetadata: { attachment: `${volume}@id-of-node-1` } })
  const request = cluster.storage.calls.findLast(({ method }) => method === 'ControllerPublishVolume')?.request
  deepEqual({ ...(request as { readonly secrets: object }).secrets }, { a: 'b' })
  const volumes = cluster.client.of(persistentVolume)
  deepEqual((await volumes.get(volume, ctx)).metadata.finalizers?.includes(finalizer), true)
  await attachments(cluster).delete('a', {}, ctx)
  await cluster.clock.settle()
  equal(await attachments(cluster).find('a', ctx), undefined)
  deepEqual(cluster.storage.records.volumes.get(volume)?.attachments, {})
})

test('the finalizer of a volume is removed when it is being deleted and is not attached', async () => {
  await using cluster = await startSidecars()
  const volume = await attaching(cluster)
  const volumes = cluster.client.of(persistentVolume)
  await volumes.delete(volume, {}, ctx)
  await cluster.clock.settle()
  const finalizers = async () => (await volumes.get(volume, ctx)).metadata.finalizers
  deepEqual((await finalizers())?.includes(finalizer), true)
  await attachments(cluster).delete('a', {}, ctx)
  await cluster.clock.settle()
  deepEqual((await finalizers())?.includes(finalizer), false)
})

test('errors of attaching and detaching are written to the status, and calls are repeated', async () => {
  await using cluster = await startSidecars()
  const fail = { kind: 'fail', code: 'RESOURCE_EXHAUSTED', message: 'too many' } as const
  cluster.storage.inject(
    { method: 'ControllerPublishVolume', when: 'before', action: fail, times: 1 },
    { method: 'ControllerUnpublishVolume', when: 'after', action: { kind: 'exit' }, times: 1 },
  )
  await attaching(cluster)
  const { attachError, attached } = (await attachments(cluster).get('a', ctx)).status
  deepEqual(
    [attached, attachError?.message, attachError?.errorCode],
    [false, 'rpc error: code = ResourceExhausted desc = too many', 8],
  )
  await cluster.clock.advance('1s')
  const { status } = await attachments(cluster).get('a', ctx)
  deepEqual([status.attached, status.attachError], [true, undefined])
  await attachments(cluster).delete('a', {}, ctx)
  await cluster.clock.settle()
  match((await attachments(cluster).get('a', ctx)).status.detachError?.message ?? '', /code = Unavailable/)
  await cluster.clock.advance('1s')
  equal(await attachments(cluster).find('a', ctx), undefined)
})

test('a failed call is not repeated before its backoff', async () => {
  await using cluster = await startSidecars()
  const fail = { kind: 'fail', code: 'INTERNAL', message: 'broken' } as const
  cluster.storage.inject({ method: 'ControllerPublishVolume', when: 'before', action: fail })
  await attaching(cluster)
  const count = () => cluster.calls().filter((method) => method === 'ControllerPublishVolume').length
  equal(count(), 1)
  await cluster.clock.advance('7s')
  equal(count(), 4, 'after 1, 3 and 7 seconds')
})

test('an attachment to a node without the driver, of a foreign volume or of an inline volume fails', async () => {
  await using cluster = await startSidecars()
  await attaching(cluster, 'elsewhere')
  const { status } = await attachments(cluster).get('a', ctx)
  equal(status.attachError?.message, `CSINode elsewhere does not contain driver ${driverName}`)
  const volume = {
    metadata: { name: 'foreign' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce' as const],
      csi: { driver: 'x.example.com', volumeHandle: 'x' },
    },
  }
  await cluster.client.of(persistentVolume).create(volume, ctx)
  const create = (name: string, source: object) =>
    attachments(cluster).create({ metadata: { name }, spec: { attacher: driverName, nodeName: 'node-1', source } }, ctx)
  await create('b', { persistentVolumeName: 'foreign' })
  await create('c', { inlineVolumeSpec: { accessModes: volume.spec.accessModes, csi: volume.spec.csi } })
  await cluster.clock.settle()
  const messageOf = async (name: string) => (await attachments(cluster).get(name, ctx)).status.attachError?.message
  deepEqual(
    [await messageOf('b'), await messageOf('c')],
    [`volume foreign is not of the driver ${driverName}`, 'inline volumes are not attached'],
  )
})

test('a driver that attaches nothing has its attachments marked as attached', async () => {
  await using cluster = await startSidecars({ storage: { mustAttach: false } })
  await attaching(cluster)
  equal((await attachments(cluster).get('a', ctx)).status.attached, true)
  deepEqual(cluster.calls(), ['CreateVolume'])
})
