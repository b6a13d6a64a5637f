// Snapshots are made, bound, restored and deleted: the requests of a snapshot-controller and a csi-snapshotter.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { secret } from '../../../api/core/v1/secret.ts'
import { persistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { ctx, driverName, startSidecars, type SidecarCluster, type SidecarClusterOptions } from '../sidecars.harness.ts'
import { volumeSnapshot, volumeSnapshotClass, volumeSnapshotContent, type DeletionPolicy } from './snapshot-kinds.ts'

const snapshots = ({ client }: SidecarCluster) => client.of(volumeSnapshot)
const contents = ({ client }: SidecarCluster) => client.of(volumeSnapshotContent)

function directoryOf({ storage }: SidecarCluster, volumeId: string) {
  const root = storage.rootOf(volumeId)
  if (root.kind === 'file') throw new Error('the volume is a block volume')
  return root.entries
}

async function withClaim(options: SidecarClusterOptions = {}): Promise<SidecarCluster> {
  const cluster = await startSidecars({ hasSnapshots: true, ...options })
  await cluster.storageClass()
  await cluster.claim('web')
  await cluster.bind('web')
  return cluster
}

async function snapshotClass(cluster: SidecarCluster, deletionPolicy: DeletionPolicy = 'Delete'): Promise<void> {
  const annotations = { 'snapshot.storage.kubernetes.io/is-default-class': 'true' }
  await cluster.client.of(volumeSnapshotClass).create(
    {
      metadata: { name: 'csi', annotations },
      driver: driverName,
      deletionPolicy,
      parameters: {
        tier: 'cold',
        'csi.storage.k8s.io/snapshotter-secret-name': 'key-${volumesnapshot.name}',
        'csi.storage.k8s.io/snapshotter-secret-namespace': '${volumesnapshot.namespace}',
      },
    },
    ctx,
  )
  await cluster.client.of(secret).create({ metadata: { name: 'key-s' }, stringData: { a: 'b' } }, 'default', ctx)
  await cluster.clock.settle()
}

async function snapshot(cluster: SidecarCluster, source: object = { persistentVolumeClaimName: 'web' }) {
  const created = await snapshots(cluster).create({ metadata: { name: 's' }, spec: { source } }, ctx)
  await cluster.clock.settle()
  return created
}

test('a snapshot is made, bound and ready to use', async () => {
  await using cluster = await withClaim()
  await snapshotClass(cluster)
  const { metadata } = await snapshot(cluster)
  const name = `snapcontent-${metadata.uid}`
  const content = await contents(cluster).get(name, ctx)
  deepEqual(content.metadata.finalizers, ['snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection'])
  equal(content.metadata.annotations?.['snapshot.storage.kubernetes.io/volumesnapshot-being-created'], undefined)
  deepEqual(
    [content.spec.driver, content.spec.deletionPolicy, content.spec.volumeSnapshotRef.uid, content.status?.readyToUse],
    [driverName, 'Delete', metadata.uid, true],
  )
  equal(content.status?.snapshotHandle, `snapshot-${metadata.uid}`)
  const { status, metadata: bound } = await snapshots(cluster).get('s', ctx)
  deepEqual(bound.finalizers, [
    'snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection',
    'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection',
  ])
  deepEqual(
    [status?.boundVolumeSnapshotContentName, status?.readyToUse, status?.restoreSize, status?.error],
    [name, true, '1Gi', undefined],
  )
  ok(status?.creationTime)
  const call = cluster.storage.calls.find(({ method }) => method === 'CreateSnapshot')?.request as Record<
    string,
    object
  >
  deepEqual([{ ...call['parameters'] }, { ...call['secrets'] }], [{ tier: 'cold' }, { a: 'b' }])
  deepEqual(await cluster.events('VolumeSnapshot', 's'), [
    'Normal CreatingSnapshot Waiting for a snapshot default/s to be created by the CSI driver.',
    'Normal SnapshotCreated Snapshot default/s was successfully created by the CSI driver.',
    'Normal SnapshotReady Snapshot default/s is ready to use.',
  ])
  const { finalizers = [] } = (await cluster.client.of(persistentVolumeClaim).get('web', ctx)).metadata
  equal(
    finalizers.some((each) => each.startsWith('snapshot.')),
    false,
    'the claim may be deleted',
  )
})

test('a snapshot that takes time is checked until it is ready', async () => {
  await using cluster = await withClaim({ storage: { snapshotReadyMs: 20_000 } })
  await snapshotClass(cluster)
  await snapshot(cluster)
  const status = async () => (await snapshots(cluster).get('s', ctx)).status
  equal((await status())?.readyToUse, false)
  await cluster.clock.advance('25s')
  equal((await status())?.readyToUse, true)
})

for (const policy of ['Delete', 'Retain'] as const)
  test(`a deleted snapshot with ${policy} ${policy === 'Delete' ? 'is deleted' : 'is kept'} in the storage system`, async () => {
    await using cluster = await withClaim()
    await snapshotClass(cluster, policy)
    const { metadata } = await snapshot(cluster)
    await snapshots(cluster).delete('s', {}, ctx)
    await cluster.clock.settle()
    equal(await snapshots(cluster).find('s', ctx), undefined)
    const content = await contents(cluster).find(`snapcontent-${metadata.uid}`, ctx)
    deepEqual(
      [content !== undefined, cluster.storage.records.snapshots.size],
      policy === 'Delete' ? [false, 0] : [true, 1],
    )
  })

test('a claim is restored from a snapshot, which is not deleted meanwhile', async () => {
  await using cluster = await withClaim()
  await snapshotClass(cluster)
  const dataSource = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' }
  const { metadata } = await cluster.claim('restored', { spec: { dataSource } })
  match((await cluster.events('PersistentVolumeClaim', 'restored')).join(), /"s" not found/)
  await snapshot(cluster)
  await snapshots(cluster).delete('s', {}, ctx)
  await cluster.clock.settle()
  ok(await snapshots(cluster).find('s', ctx), 'a claim is waiting for it')
  match((await cluster.events('PersistentVolumeClaim', 'restored')).join(), /not found/)
  equal(cluster.storage.records.snapshots.size, 1)
  // The snapshot is being deleted, so the claim is not restored from it; once the claim is gone, it is deleted.
  await cluster.clock.advance('2s')
  match((await cluster.events('PersistentVolumeClaim', 'restored')).join(), /is currently being deleted/)
  await cluster.client.of(persistentVolumeClaim).patch('restored', { metadata: { finalizers: [] } }, 'merge', ctx)
  await cluster.client.of(persistentVolumeClaim).delete('restored', { uid: metadata.uid }, ctx)
  await cluster.clock.settle()
  equal(cluster.storage.records.snapshots.size, 0)
})

test('a restored claim has the data and at least the size of the snapshot', async () => {
  await using cluster = await withClaim()
  await snapshotClass(cluster)
  const [volume] = [...cluster.storage.records.volumes.keys()]
  directoryOf(cluster, volume ?? '').set('file', {
    kind: 'file',
    mode: 0o644,
    content: new TextEncoder().encode('old'),
  })
  await snapshot(cluster)
  const dataSource = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' }
  const { metadata } = await cluster.claim('restored', { spec: { dataSource } })
  deepEqual([...directoryOf(cluster, `pvc-${metadata.uid}`).keys()], ['file'])
  await cluster.claim('small', { spec: { dataSource, resources: { requests: { storage: '1Mi' } } } })
  match((await cluster.events('PersistentVolumeClaim', 'small')).join(), /is less than the size 1073741824/)
})

test('errors are written to the snapshot and its content, and the call is repeated', async () => {
  await using cluster = await withClaim()
  await snapshotClass(cluster)
  const fail = { kind: 'fail', code: 'INTERNAL', message: 'broken' } as const
  cluster.storage.inject(
    { method: 'CreateSnapshot', when: 'before', action: fail, times: 1 },
    { method: 'CreateSnapshot', when: 'after', action: { kind: 'exit' }, times: 1 },
  )
  const { metadata } = await snapshot(cluster)
  const message = 'Failed to create snapshot: rpc error: code = Internal desc = broken'
  equal((await snapshots(cluster).get('s', ctx)).status?.error?.message, message)
  const name = `snapcontent-${metadata.uid}`
  const creating = async () =>
    (await contents(cluster).get(name, ctx)).metadata.annotations?.[
      'snapshot.storage.kubernetes.io/volumesnapshot-being-created'
    ]
  equal(await creating(), undefined)
  await cluster.clock.advance('1s')
  equal(await creating(), 'yes', 'the snapshot may exist')
  await cluster.clock.advance('5s')
  const { status } = await snapshots(cluster).get('s', ctx)
  deepEqual([status?.readyToUse, status?.error, cluster.storage.records.snapshots.size], [true, undefined, 1])
})

test('a snapshot that is deleted while it may exist is found and deleted', async () => {
  await using cluster = await withClaim()
  await snapshotClass(cluster)
  cluster.storage.inject({ method: 'CreateSnapshot', when: 'after', action: { kind: 'exit' }, times: 1 })
  await snapshot(cluster)
  equal(cluster.storage.records.snapshots.size, 1)
  await snapshots(cluster).delete('s', {}, ctx)
  await cluster.clock.advance('10s')
  equal(await snapshots(cluster).find('s', ctx), undefined)
  equal(cluster.storage.records.snapshots.size, 0)
})

test('a snapshot is bound to a content that exists already', async () => {
  await using cluster = await withClaim()
  await snapshotClass(cluster)
  await snapshot(cluster)
  const snapshotHandle = [...cluster.storage.records.snapshots.keys()][0] ?? ''
  const spec = (name: string, handle: string) => ({
    driver: driverName,
    deletionPolicy: 'Retain' as const,
    source: { snapshotHandle: handle },
    volumeSnapshotRef: { name, namespace: 'default' },
  })
  await contents(cluster).create({ metadata: { name: 'given' }, spec: spec('imported', snapshotHandle) }, ctx)
  const source = { volumeSnapshotContentName: 'given' }
  for (const name of ['imported', 'thief'])
    await snapshots(cluster).create({ metadata: { name }, spec: { source } }, ctx)
  await contents(cluster).create({ metadata: { name: 'missing' }, spec: spec('x', 'missing') }, ctx)
  await cluster.clock.settle()
  equal((await snapshots(cluster).get('imported', ctx)).status?.readyToUse, true)
  match(
    (await snapshots(cluster).get('thief', ctx)).status?.error?.message ?? '',
    /is bound to a different VolumeSnapshot/,
  )
  match(
    (await contents(cluster).get('missing', ctx)).status?.error?.message ?? '',
    /can not find snapshot for snapshotID missing/,
  )
})

test('a snapshot needs a class, a bound claim and an existing content', async () => {
  await using cluster = await withClaim()
  await snapshot(cluster)
  const errorOf = async (name: string) => (await snapshots(cluster).get(name, ctx)).status?.error?.message ?? ''
  equal(await errorOf('s'), 'cannot find default snapshot class')
  await cluster.claim('unbound')
  const create = async (name: string, spec: { source: object; volumeSnapshotClassName?: string }) => {
    await snapshots(cluster).create({ metadata: { name }, spec }, ctx)
    await cluster.clock.settle()
    return errorOf(name)
  }
  const ofClaim = (persistentVolumeClaimName: string) => ({ source: { persistentVolumeClaimName } })
  match(await create('a', ofClaim('unbound')), /the PVC unbound is not yet bound to a PV/)
  match(await create('b', { ...ofClaim('web'), volumeSnapshotClassName: 'x' }), /volumesnapshotclass "x" not found/)
  match(await create('c', { source: { volumeSnapshotContentName: 'x' } }), /the VolumeSnapshotContent x does not exist/)
})

const invalid = [
  ['no source', {}, /exactly one of volumeSnapshotContentName and persistentVolumeClaimName must be set/],
  ['two sources', { persistentVolumeClaimName: 'a', volumeSnapshotContentName: 'b' }, /exactly one of/],
] as const
for (const [what, source, message] of invalid)
  test(`a snapshot with ${what} is rejected`, async () => {
    await using cluster = await startSidecars({ hasSnapshots: true })
    await rejects(snapshot(cluster, source), message)
  })

test('the source of a snapshot cannot change', async () => {
  await using cluster = await startSidecars({ hasSnapshots: true })
  await snapshot(cluster)
  const change = (patch: object) => snapshots(cluster).patch('s', patch, 'merge', ctx)
  await rejects(
    change({ spec: { source: { persistentVolumeClaimName: 'x' } } }),
    /persistentVolumeClaimName is immutable/,
  )
  await rejects(change({ spec: { volumeSnapshotClassName: '' } }), /must not be the empty string when set/)
})
