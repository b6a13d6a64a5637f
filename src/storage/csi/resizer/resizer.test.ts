// Claims are expanded and their attributes changed: the requests of an external-resizer, against the API.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { persistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { volumeAttributesClass } from '../../../api/storage/v1/volume-attributes-class.ts'
import { ctx, driverName, startSidecars, type SidecarCluster } from '../sidecars.harness.ts'
import { decideResize } from './resize-decision.ts'

async function bound(cluster: SidecarCluster): Promise<string> {
  await cluster.storageClass({ allowVolumeExpansion: true })
  const { metadata } = await cluster.claim('web')
  await cluster.bind('web')
  return `pvc-${metadata.uid}`
}

async function request(cluster: SidecarCluster, storage: string): Promise<void> {
  const patch = { spec: { resources: { requests: { storage } } } }
  await cluster.client.of(persistentVolumeClaim).patch('web', patch, 'merge', ctx)
  await cluster.clock.settle()
}

const statusOf = async ({ client }: SidecarCluster) => {
  const { status } = await client.of(persistentVolumeClaim).get('web', ctx)
  return {
    capacity: status.capacity?.['storage'],
    allocated: status.allocatedResources?.['storage'],
    progress: status.allocatedResourceStatuses?.['storage'],
    conditions: status.conditions?.map(({ type }) => type) ?? [],
  }
}
const capacityOf = async ({ client }: SidecarCluster, name: string) =>
  (await client.of(persistentVolume).get(name, ctx)).spec.capacity?.['storage']

test('a volume is expanded, and the node has to complete the expansion', async () => {
  await using cluster = await startSidecars()
  const volume = await bound(cluster)
  await request(cluster, '2Gi')
  equal(await capacityOf(cluster, volume), '2Gi')
  deepEqual(await statusOf(cluster), {
    capacity: '1Gi',
    allocated: '2Gi',
    progress: 'NodeResizePending',
    conditions: ['FileSystemResizePending'],
  })
  const { annotations = {} } = (await cluster.client.of(persistentVolume).get(volume, ctx)).metadata
  equal(annotations['volume.alpha.kubernetes.io/pre-resize-capacity'], '1Gi')
  deepEqual((await cluster.events('PersistentVolumeClaim', 'web')).slice(2), [
    `Normal Resizing External resizer is resizing volume ${volume}`,
    'Normal FileSystemResizeRequired Require file system resize of volume on node',
  ])
})

test('a volume that the controller expands alone is complete at once', async () => {
  await using cluster = await startSidecars({ storage: { mustExpandOnNode: false } })
  const volume = await bound(cluster)
  await request(cluster, '2Gi')
  equal(await capacityOf(cluster, volume), '2Gi')
  deepEqual(await statusOf(cluster), { capacity: '2Gi', allocated: '2Gi', progress: undefined, conditions: [] })
  equal(
    (await cluster.events('PersistentVolumeClaim', 'web')).at(-1),
    'Normal VolumeResizeSuccessful Resize volume succeeded',
  )
})

test('an expansion that the driver rejects for good is replaced by a smaller one', async () => {
  await using cluster = await startSidecars({ storage: { mustExpandOnNode: false, volumeBytesMax: 4 * 2 ** 30 } })
  const volume = await bound(cluster)
  await request(cluster, '8Gi')
  deepEqual(await statusOf(cluster), {
    capacity: '1Gi',
    allocated: '8Gi',
    progress: 'ControllerResizeInfeasible',
    conditions: ['ControllerResizeError'],
  })
  equal(cluster.calls().filter((method) => method === 'ControllerExpandVolume').length, 1)
  await cluster.clock.advance('6m')
  equal(cluster.calls().filter((method) => method === 'ControllerExpandVolume').length, 2, 'it is rarely tried again')
  await request(cluster, '3Gi')
  equal(await capacityOf(cluster, volume), '3Gi')
  equal((await statusOf(cluster)).capacity, '3Gi')
})

test('an expansion whose answer was lost is completed before another size is tried', async () => {
  await using cluster = await startSidecars({ storage: { mustExpandOnNode: false } })
  const volume = await bound(cluster)
  cluster.storage.inject({ method: 'ControllerExpandVolume', when: 'after', action: { kind: 'exit' }, times: 1 })
  await request(cluster, '2Gi')
  deepEqual(await statusOf(cluster), {
    capacity: '1Gi',
    allocated: '2Gi',
    progress: 'ControllerResizeInProgress',
    conditions: ['ControllerResizeError'],
  })
  await request(cluster, '3Gi')
  await cluster.clock.advance('5s')
  equal(await capacityOf(cluster, volume), '3Gi')
  const sizes = cluster.storage.calls
    .filter(({ method }) => method === 'ControllerExpandVolume')
    .map(
      ({ request: { capacityRange } }: { request: { capacityRange?: { requiredBytes: number } } }) =>
        (capacityRange?.requiredBytes ?? 0) / 2 ** 30,
    )
  deepEqual(sizes, [2, 3], 'the call whose answer was lost is not recorded')
})

test('the attributes of a volume follow the class of its claim', async () => {
  await using cluster = await startSidecars()
  const volume = await bound(cluster)
  const patch = { spec: { volumeAttributesClassName: 'gold' } }
  const claims = cluster.client.of(persistentVolumeClaim)
  await claims.patch('web', patch, 'merge', ctx)
  await cluster.clock.settle()
  const status = async () => (await claims.get('web', ctx)).status
  deepEqual((await status()).modifyVolumeStatus, { targetVolumeAttributesClassName: 'gold', status: 'Pending' })
  const fail = { kind: 'fail', code: 'INVALID_ARGUMENT', message: 'no gold' } as const
  cluster.storage.inject({ method: 'ControllerModifyVolume', when: 'before', action: fail, times: 1 })
  const classes = cluster.client.of(volumeAttributesClass)
  await classes.create({ metadata: { name: 'gold' }, driverName, parameters: { iops: '9' } }, ctx)
  await cluster.clock.settle()
  const failed = await status()
  deepEqual(
    [failed.modifyVolumeStatus?.status, failed.conditions?.map(({ type }) => type)],
    ['Infeasible', ['ModifyVolumeError']],
  )
  await cluster.clock.advance('5m')
  const done = await status()
  deepEqual(
    [done.currentVolumeAttributesClassName, done.modifyVolumeStatus, done.conditions],
    ['gold', undefined, undefined],
  )
  equal((await cluster.client.of(persistentVolume).get(volume, ctx)).spec.volumeAttributesClassName, 'gold')
  deepEqual(cluster.storage.records.volumes.get(volume)?.mutableParameters, { iops: '9' })
})

test('a class of another driver is not used', async () => {
  await using cluster = await startSidecars()
  await bound(cluster)
  const classes = cluster.client.of(volumeAttributesClass)
  await classes.create({ metadata: { name: 'gold' }, driverName: 'x.example.com', parameters: { a: 'b' } }, ctx)
  const patch = { spec: { volumeAttributesClassName: 'gold' } }
  await cluster.client.of(persistentVolumeClaim).patch('web', patch, 'merge', ctx)
  await cluster.clock.settle()
  equal(
    (await cluster.events('PersistentVolumeClaim', 'web')).at(-1),
    `Warning VolumeModifyFailed VAC gold has driver x.example.com, not ${driverName}`,
  )
})

const rows = [
  ['a claim that is not bound', { phase: 'Pending', capacity: 0 }, 'none'],
  ['a claim with its size', { phase: 'Bound', capacity: 2, volume: 2 }, 'none'],
  ['a claim that needs more', { phase: 'Bound', capacity: 1, volume: 1 }, 'expand 2'],
  ['a volume that is larger than the claim knows', { phase: 'Bound', capacity: 1, volume: 2 }, 'finish 2'],
  [
    'an expansion that waits for the node',
    { phase: 'Bound', capacity: 1, volume: 2, progress: 'NodeResizePending' },
    'none',
  ],
  [
    'an unfinished expansion',
    { phase: 'Bound', capacity: 1, volume: 1, allocated: 5, progress: 'ControllerResizeInProgress' },
    'expand 5',
  ],
  [
    'a rejected expansion',
    { phase: 'Bound', capacity: 1, volume: 1, allocated: 5, progress: 'ControllerResizeInfeasible' },
    'expand 2',
  ],
] as const
for (const [name, given, expected] of rows)
  test(`decision for ${name}`, () => {
    const {
      phase,
      capacity,
      volume = 0,
      allocated = 0,
      progress,
    } = { progress: undefined, ...given } as {
      readonly phase: string
      readonly capacity: number
      readonly volume?: number
      readonly allocated?: number
      readonly progress: string | undefined
    }
    const storage = (size: number) => ({ storage: String(size) })
    const claim = {
      spec: { resources: { requests: storage(2) } },
      status: {
        phase,
        capacity: storage(capacity),
        allocatedResources: storage(allocated),
        ...(progress === undefined ? {} : { allocatedResourceStatuses: { storage: progress } }),
      },
    }
    const decision = decideResize(claim as never, { spec: { capacity: storage(volume) } } as never)
    equal(decision.kind === 'none' ? 'none' : `${decision.kind} ${decision.bytes}`, expected)
  })
