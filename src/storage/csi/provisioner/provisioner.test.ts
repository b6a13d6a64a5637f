// Claims become volumes, and released volumes are deleted: the requests of an external-provisioner, against the API.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { secret } from '../../../api/core/v1/secret.ts'
import { persistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { csiStorageCapacity } from '../../../api/storage/v1/csi-storage-capacity.ts'
import { storageClass } from '../../../api/storage/v1/storage-class.ts'
import { volumeAttachment } from '../../../api/storage/v1/volume-attachment.ts'
import { volumeAttributesClass } from '../../../api/storage/v1/volume-attributes-class.ts'
import { ctx, driverName, startSidecars, type SidecarCluster } from '../sidecars.harness.ts'

const volumes = ({ client }: SidecarCluster) => client.of(persistentVolume)
const requestOf = ({ storage }: SidecarCluster, method: string) =>
  storage.calls.findLast((call) => call.method === method)?.request as Record<string, object>

test('a claim gets a volume with everything that its class requires', async () => {
  await using cluster = await startSidecars({ hasExtraMetadata: true })
  await cluster.client.of(secret).create({ metadata: { name: 'web' }, stringData: { user: 'root' } }, 'default', ctx)
  const prefix = 'csi.storage.k8s.io/'
  await cluster.storageClass({
    mountOptions: ['noatime'],
    parameters: {
      tier: 'fast',
      [`${prefix}fstype`]: 'ext4',
      [`${prefix}provisioner-secret-name`]: '${pvc.name}',
      [`${prefix}provisioner-secret-namespace`]: '${pvc.namespace}',
      [`${prefix}node-stage-secret-name`]: 'stage-${pv.name}',
      [`${prefix}node-stage-secret-namespace`]: 'default',
    },
  })
  const claim = await cluster.claim('web')
  const name = `pvc-${claim.metadata.uid}`
  const { metadata, spec } = await volumes(cluster).get(name, ctx)
  deepEqual(
    { ...metadata.annotations },
    {
      'pv.kubernetes.io/provisioned-by': driverName,
      'volume.kubernetes.io/provisioner-deletion-secret-name': 'web',
      'volume.kubernetes.io/provisioner-deletion-secret-namespace': 'default',
    },
  )
  deepEqual(metadata.finalizers, ['external-provisioner.volume.kubernetes.io/finalizer', 'kubernetes.io/pv-protection'])
  deepEqual(spec.csi, {
    driver: driverName,
    volumeHandle: name,
    fsType: 'ext4',
    volumeAttributes: { name, 'storage.kubernetes.io/csiProvisionerIdentity': driverName },
    nodeStageSecretRef: { name: `stage-${name}`, namespace: 'default' },
  })
  deepEqual(
    [spec.capacity, spec.accessModes, spec.mountOptions, spec.persistentVolumeReclaimPolicy, spec.storageClassName],
    [{ storage: '1Gi' }, ['ReadWriteOnce'], ['noatime'], 'Delete', 'csi'],
  )
  const { uid, name: claimName, namespace } = spec.claimRef ?? {}
  deepEqual([uid, claimName, namespace], [claim.metadata.uid, 'web', 'default'])
  const request = requestOf(cluster, 'CreateVolume')
  deepEqual(
    { ...request['parameters'] },
    {
      tier: 'fast',
      'csi.storage.k8s.io/pvc/name': 'web',
      'csi.storage.k8s.io/pvc/namespace': 'default',
      'csi.storage.k8s.io/pv/name': name,
    },
  )
  deepEqual({ ...request['secrets'] }, { user: 'root' })
  deepEqual(await cluster.events('PersistentVolumeClaim', 'web'), [
    'Normal Provisioning External provisioner is provisioning volume for claim "default/web"',
    `Normal ProvisioningSucceeded Successfully provisioned volume ${name}`,
  ])
})

test('claims of other provisioners, without a class or of a populator are left alone', async () => {
  await using cluster = await startSidecars()
  const dataSourceRef = { apiGroup: 'example.com', kind: 'Hello', name: 'x' }
  await cluster.claim('other', { metadata: { annotations: { 'volume.kubernetes.io/storage-provisioner': 'x' } } })
  await cluster.claim('populated', { spec: { dataSourceRef } })
  await cluster.claim('early')
  deepEqual(cluster.calls(), [])
  await cluster.storageClass()
  deepEqual(cluster.calls(), ['CreateVolume'], 'the claim that was created before its class')
})

test('a claim that waits for a consumer is provisioned in the segment of the selected node', async () => {
  await using cluster = await startSidecars({ zones: { 'node-1': 'a', 'node-2': 'b' } })
  await cluster.storageClass({ volumeBindingMode: 'WaitForFirstConsumer' })
  const claim = await cluster.claim('web')
  deepEqual(cluster.calls(), [])
  const annotations = { 'volume.kubernetes.io/selected-node': 'node-2' }
  await cluster.client.of(persistentVolumeClaim).patch('web', { metadata: { annotations } }, 'merge', ctx)
  await cluster.clock.settle()
  const { spec } = await volumes(cluster).get(`pvc-${claim.metadata.uid}`, ctx)
  deepEqual(spec.nodeAffinity, {
    required: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'topology.example.com/zone', operator: 'In', values: ['b'] }] }],
    },
  })
})

test('a claim whose node has no space is scheduled again', async () => {
  await using cluster = await startSidecars({ zones: { 'node-1': 'a' }, storage: { capacityBytes: 1 << 20 } })
  await cluster.storageClass({ volumeBindingMode: 'WaitForFirstConsumer' })
  const annotations = { 'volume.kubernetes.io/selected-node': 'node-1' }
  await cluster.claim('web', { metadata: { annotations } })
  const { metadata } = await cluster.client.of(persistentVolumeClaim).get('web', ctx)
  equal(metadata.annotations?.['volume.kubernetes.io/selected-node'], undefined)
  const [, failed] = await cluster.events('PersistentVolumeClaim', 'web')
  equal(
    failed,
    'Warning ProvisioningFailed failed to provision volume with StorageClass "csi": rpc error: code = ResourceExhausted desc = no space is left for 1073741824 bytes',
  )
})

const rejections = [
  [
    'a missing secret',
    { 'csi.storage.k8s.io/provisioner-secret-name': 'x', 'csi.storage.k8s.io/provisioner-secret-namespace': 'default' },
    /secrets "x" not found/,
  ],
  ['half a secret', { 'csi.storage.k8s.io/provisioner-secret-name': 'x' }, /Both must be specified/],
  [
    'an unknown variable',
    { 'csi.storage.k8s.io/provisioner-secret-name': '${x}', 'csi.storage.k8s.io/provisioner-secret-namespace': 'x' },
    /invalid tokens: \["x"\]/,
  ],
  [
    'an unknown reserved key',
    { 'csi.storage.k8s.io/x': 'y' },
    /found unknown parameter key "csi.storage.k8s.io\/x" with reserved namespace/,
  ],
] as const
for (const [what, parameters, message] of rejections)
  test(`a claim is not provisioned with ${what} in its class`, async () => {
    await using cluster = await startSidecars()
    await cluster.storageClass({ parameters: { ...parameters } })
    await cluster.claim('web')
    match((await cluster.events('PersistentVolumeClaim', 'web')).join('\n'), message)
    deepEqual(cluster.calls(), [])
  })

test('a failed call is repeated until it succeeds, and a lost answer does not leave a second volume', async () => {
  await using cluster = await startSidecars({ storage: { restartMs: 500 } })
  const fail = { kind: 'fail', code: 'INTERNAL', message: 'broken' } as const
  cluster.storage.inject(
    { method: 'CreateVolume', when: 'before', action: fail, times: 1 },
    { method: 'CreateVolume', when: 'after', action: { kind: 'exit' }, times: 1 },
    { method: 'CreateVolume', when: 'after', action: { kind: 'hang' }, times: 1 },
  )
  await cluster.storageClass()
  const claim = await cluster.claim('web')
  await cluster.clock.advance('5m')
  equal(cluster.storage.records.volumes.size, 1)
  ok(await volumes(cluster).find(`pvc-${claim.metadata.uid}`, ctx))
  const events = (await cluster.events('PersistentVolumeClaim', 'web')).join('\n')
  for (const text of ['Internal desc = broken', 'Unavailable desc = the driver exited', 'DeadlineExceeded'])
    ok(events.includes(text), events)
})

test('a claim that is deleted while its volume may exist is provisioned, so that the volume is found and deleted', async () => {
  await using cluster = await startSidecars()
  const action = { kind: 'fail', code: 'DEADLINE_EXCEEDED', message: 'slow' } as const
  cluster.storage.inject({ method: 'CreateVolume', when: 'after', action, times: 1 })
  await cluster.storageClass()
  const { metadata } = await cluster.claim('web')
  equal(cluster.storage.records.volumes.size, 1)
  await cluster.client.of(persistentVolumeClaim).patch('web', { metadata: { finalizers: [] } }, 'merge', ctx)
  await cluster.client.of(persistentVolumeClaim).delete('web', {}, ctx)
  await cluster.clock.advance('10s')
  const name = `pvc-${metadata.uid}`
  ok(await volumes(cluster).find(name, ctx))
  await cluster.release(name)
  equal(cluster.storage.records.volumes.size, 0)
})

test('a released volume is deleted with its object, once it is detached', async () => {
  await using cluster = await startSidecars()
  await cluster.storageClass()
  const { metadata } = await cluster.claim('web')
  const name = `pvc-${metadata.uid}`
  await cluster.bind('web')
  const attachments = cluster.client.of(volumeAttachment)
  const spec = { attacher: 'other.example.com', nodeName: 'node-1', source: { persistentVolumeName: name } }
  await attachments.create({ metadata: { name: 'a' }, spec }, ctx)
  await cluster.release(name)
  deepEqual(await cluster.events('PersistentVolume', name), [
    `Warning VolumeFailedDelete persistentvolume ${name} is still attached to node node-1`,
  ])
  await attachments.delete('a', {}, ctx)
  await cluster.clock.settle()
  // pv-protection is removed by its controller, which does not run here.
  const { metadata: left } = await volumes(cluster).get(name, ctx)
  deepEqual([left.finalizers, left.deletionTimestamp !== undefined], [['kubernetes.io/pv-protection'], true])
  equal(cluster.storage.records.volumes.size, 0)
})

test('a volume with Retain is kept', async () => {
  await using cluster = await startSidecars()
  await cluster.storageClass({ reclaimPolicy: 'Retain' })
  const { metadata } = await cluster.claim('kept')
  await cluster.release(`pvc-${metadata.uid}`)
  equal(cluster.storage.records.volumes.size, 1)
  const { finalizers } = (await volumes(cluster).get(`pvc-${metadata.uid}`, ctx)).metadata
  deepEqual(finalizers, ['kubernetes.io/pv-protection'])
})

test('a volume whose object is deleted first is deleted when its claim is gone', async () => {
  await using cluster = await startSidecars()
  await cluster.storageClass()
  const { metadata } = await cluster.claim('web')
  const name = `pvc-${metadata.uid}`
  await cluster.bind('web')
  await volumes(cluster).delete(name, {}, ctx)
  await cluster.clock.settle()
  equal(cluster.storage.records.volumes.size, 1)
  await cluster.release(name)
  equal(cluster.storage.records.volumes.size, 0)
})

test('a finalizer is removed from a volume whose policy becomes Retain', async () => {
  await using cluster = await startSidecars()
  await cluster.storageClass()
  const { metadata } = await cluster.claim('web')
  const patch = { spec: { persistentVolumeReclaimPolicy: 'Retain' } }
  const name = `pvc-${metadata.uid}`
  await volumes(cluster).patch(name, patch, 'merge', ctx)
  await cluster.clock.settle()
  deepEqual((await volumes(cluster).get(name, ctx)).metadata.finalizers, ['kubernetes.io/pv-protection'])
})

test('a claim is cloned, and its source is protected meanwhile', async () => {
  await using cluster = await startSidecars()
  await cluster.storageClass()
  const source = await cluster.claim('source')
  const sourceOf = { kind: 'PersistentVolumeClaim', name: 'source' }
  await cluster.claim('clone', { spec: { dataSource: sourceOf } })
  match((await cluster.events('PersistentVolumeClaim', 'clone')).join(), /the PVC DataSource source must be bound/)
  await cluster.bind('source')
  cluster.storage.inject({
    method: 'CreateVolume',
    when: 'before',
    action: { kind: 'delay', ms: 10_000 },
    times: 1,
  })
  await cluster.clock.advance('2s')
  const finalizers = async () =>
    (await cluster.client.of(persistentVolumeClaim).get('source', ctx)).metadata.finalizers?.filter((each) =>
      each.includes('cloning'),
    )
  deepEqual(await finalizers(), ['provisioner.storage.kubernetes.io/cloning-protection'])
  await cluster.clock.advance('10s')
  deepEqual(await finalizers(), [])
  deepEqual(
    [...cluster.storage.records.volumes.values()].map(({ source: from }) => from?.id),
    [undefined, `pvc-${source.metadata.uid}`],
  )
  for (const [name, spec, message] of [
    ['small', { resources: { requests: { storage: '1Mi' } } }, /must be greater than or equal in size/],
    ['block', { volumeMode: 'Block' }, /different volume modes/],
  ] as const) {
    await cluster.claim(name, { spec: { dataSource: sourceOf, ...spec } })
    match((await cluster.events('PersistentVolumeClaim', name)).join(), message)
  }
})

test('the attributes of a class are passed when the volume is created', async () => {
  await using cluster = await startSidecars()
  const classes = cluster.client.of(volumeAttributesClass)
  await classes.create({ metadata: { name: 'gold' }, driverName, parameters: { iops: '9' } }, ctx)
  await classes.create({ metadata: { name: 'foreign' }, driverName: 'x.example.com', parameters: { a: 'b' } }, ctx)
  await cluster.storageClass()
  const claim = await cluster.claim('web', { spec: { volumeAttributesClassName: 'gold' } })
  deepEqual({ ...requestOf(cluster, 'CreateVolume')['mutableParameters'] }, { iops: '9' })
  const { spec } = await volumes(cluster).get(`pvc-${claim.metadata.uid}`, ctx)
  equal(spec.volumeAttributesClassName, 'gold')
  await cluster.claim('other', { spec: { volumeAttributesClassName: 'foreign' } })
  match((await cluster.events('PersistentVolumeClaim', 'other')).join(), /VAC foreign has driver x.example.com/)
})

test('capacities are published for each class and segment, and follow the storage', async () => {
  const MiB = 1 << 20
  await using cluster = await startSidecars({
    zones: { 'node-1': 'a', 'node-2': 'b' },
    storage: { capacityBytes: 100 * MiB },
    capacity: { namespace: 'default' },
  })
  const published = async () => {
    const { items } = await cluster.client.of(csiStorageCapacity).list({}, ctx)
    return items
      .map(({ nodeTopology, storageClassName, capacity, maximumVolumeSize }) =>
        [storageClassName, ...Object.values(nodeTopology?.matchLabels ?? {}), capacity, maximumVolumeSize].join(' '),
      )
      .toSorted()
  }
  await cluster.storageClass({ volumeBindingMode: 'WaitForFirstConsumer' })
  await cluster.clock.settle()
  deepEqual(await published(), ['csi a 100Mi 100Mi', 'csi b 100Mi 100Mi'])
  await cluster.claim('web', {
    metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'node-1' } },
    spec: { resources: { requests: { storage: '30Mi' } } },
  })
  await cluster.clock.settle()
  deepEqual(await published(), ['csi a 70Mi 70Mi', 'csi b 100Mi 100Mi'])
  await cluster.client.of(storageClass).delete('csi', {}, ctx)
  await cluster.clock.settle()
  deepEqual(await published(), [])
})
