// The pure decisions about volumes of storage drivers, as tables.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedDisk } from '../../../machine/disk/simulated-disk.ts'
import { isAttached, publishContext } from './attachment.ts'
import { changesGroup, volumeCapability } from './capability.ts'
import { CsiCallError } from './csi-calls.ts'
import { volumeUsage } from './csi-stats.ts'
import { isUnused, mountSteps, type ActualVolume, type DesiredVolume } from './csi-steps.ts'
import { attachmentName, uniqueName, type CsiVolume } from './csi-volume.ts'
import { expandedStatus, needsExpansion } from '../persistent/claim-expansion.ts'
import { lifecycleProblem, tokenAttributes } from './volume-context.ts'
import { readVolumeData, writeVolumeData } from './volume-data.ts'

const volume: CsiVolume = {
  lifecycle: 'Persistent',
  specName: 'pv',
  driver: 'd',
  handle: 'h',
  isBlock: false,
  readOnly: false,
  fsType: 'ext4',
  attributes: {},
  accessModes: ['ReadWriteOnce'],
  mountOptions: [],
  stageSecret: undefined,
  publishSecret: undefined,
  expandSecret: undefined,
}

const plain: DesiredVolume = {
  needsAttachment: false,
  isPersistent: true,
  isStaged: true,
  needsExpansion: false,
  republishes: false,
}
const nothing: ActualVolume = { isStaged: false, isPublished: false }
const steps: [what: string, desired: Partial<DesiredVolume>, actual: Partial<ActualVolume>, expected: string][] = [
  ['a new volume', {}, {}, 'stage publish'],
  ['a volume that must be attached', { needsAttachment: true }, {}, 'wait-for-attachment stage publish'],
  ['a volume that is staged for another pod', {}, { isStaged: true }, 'publish'],
  ['a volume of a pod', { isPersistent: false, isStaged: false }, {}, 'publish'],
  ['a published volume', {}, { isStaged: true, isPublished: true }, ''],
  ['a published volume with tokens', { republishes: true }, { isStaged: true, isPublished: true }, 'publish'],
  ['a volume that has grown', { needsExpansion: true }, {}, 'stage expand-staging publish'],
  [
    'a volume that has grown, of a driver that does not stage',
    { needsExpansion: true, isStaged: false },
    {},
    'stage publish expand-target',
  ],
  [
    'a published volume that has grown',
    { needsExpansion: true, needsAttachment: true },
    { isStaged: true, isPublished: true },
    'expand-target',
  ],
]
for (const [what, desired, actual, expected] of steps)
  test(`the steps of ${what}: ${expected || 'none'}`, () => {
    const found = mountSteps({ ...plain, ...desired }, { ...nothing, ...actual })
    equal(found.map((step) => (step.kind === 'expand' ? `expand-${step.at}` : step.kind)).join(' '), expected)
  })

test('a staged volume is unused when no pod has or needs it', () => {
  equal(isUnused({ publications: 0, users: 0 }), true)
  equal(isUnused({ publications: 1, users: 0 }), false)
  equal(isUnused({ publications: 0, users: 1 }), false)
})

const fine = new Set(['SINGLE_NODE_MULTI_WRITER'])
const modes: [mode: string, plainMode: string, fineMode: string][] = [
  ['ReadWriteOnce', 'SINGLE_NODE_WRITER', 'SINGLE_NODE_MULTI_WRITER'],
  ['ReadWriteOncePod', 'SINGLE_NODE_WRITER', 'SINGLE_NODE_SINGLE_WRITER'],
  ['ReadOnlyMany', 'MULTI_NODE_READER_ONLY', 'MULTI_NODE_READER_ONLY'],
  ['ReadWriteMany', 'MULTI_NODE_MULTI_WRITER', 'MULTI_NODE_MULTI_WRITER'],
  ['Other', 'UNKNOWN', 'UNKNOWN'],
]
for (const [mode, ...expected] of modes)
  test(`the access mode ${mode} is ${expected.join(' or ')}`, () => {
    const found = [new Set<string>(), fine].map(
      (capabilities) => volumeCapability({ ...volume, accessModes: [mode] }, capabilities, undefined).accessMode?.mode,
    )
    deepEqual(found, expected)
  })

const groups: [policy: string, change: Partial<CsiVolume>, capabilities: string[], expected: boolean][] = [
  ['ReadWriteOnceWithFSType', {}, [], true],
  ['ReadWriteOnceWithFSType', { fsType: '' }, [], false],
  ['ReadWriteOnceWithFSType', { accessModes: ['ReadWriteMany'] }, [], false],
  ['ReadWriteOnceWithFSType', { accessModes: ['ReadWriteOncePod'] }, [], true],
  ['ReadWriteOnceWithFSType', { lifecycle: 'Ephemeral', accessModes: [] }, [], true],
  ['File', { fsType: '', accessModes: ['ReadWriteMany'] }, [], true],
  ['File', { readOnly: true }, [], false],
  ['File', { isBlock: true }, [], false],
  ['File', {}, ['VOLUME_MOUNT_GROUP'], false],
  ['None', {}, [], false],
]
for (const [policy, change, capabilities, expected] of groups)
  test(`the group of ${JSON.stringify(change)} is ${expected ? '' : 'not '}changed with ${policy} and [${capabilities.join()}]`, () =>
    equal(changesGroup({ ...volume, ...change }, policy, new Set(capabilities)), expected))

test('a driver supports the lifecycles of its CSIDriver object; without one, persistent volumes', () => {
  const ephemeral = { driver: 'd', lifecycle: 'Ephemeral' } as const
  equal(lifecycleProblem({ driver: 'd', lifecycle: 'Persistent' }, undefined), undefined)
  equal(lifecycleProblem(ephemeral, { volumeLifecycleModes: ['Persistent', 'Ephemeral'] }), undefined)
  equal(
    lifecycleProblem(ephemeral, undefined),
    'volume mode "Ephemeral" not supported by driver d (no CSIDriver object)',
  )
  equal(
    lifecycleProblem({ driver: 'd', lifecycle: 'Persistent' }, { volumeLifecycleModes: ['Ephemeral'] }),
    'volume mode "Persistent" not supported by driver d (only supports ["Ephemeral"])',
  )
})

test('tokens are passed as JSON by audience, and not at all when the driver requests none', () => {
  deepEqual(tokenAttributes(new Map()), {})
  const token = { token: 't', expirationTimestamp: '2026-01-01T00:00:00Z' }
  deepEqual(tokenAttributes(new Map([['a', token]])), {
    'csi.storage.k8s.io/serviceAccount.tokens': JSON.stringify({ a: token }),
  })
})

const sized = (storage: string) => ({ spec: { capacity: { storage } } }) as never
const growth: [actual: string, status: object, expected: boolean][] = [
  ['2Gi', { capacity: { storage: '1Gi' } }, true],
  ['1Gi', { capacity: { storage: '1024Mi' } }, false],
  ['2Gi', {}, false],
  ['2Gi', { capacity: { storage: '1Gi' }, allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' } }, false],
  ['2Gi', { capacity: { storage: '1Gi' }, allocatedResourceStatuses: { storage: 'NodeResizePending' } }, true],
]
for (const [actual, status, expected] of growth)
  test(`a volume of ${actual} is ${expected ? '' : 'not '}expanded for ${JSON.stringify(status)}`, () =>
    equal(needsExpansion(sized(actual), { status }), expected))

test('an expanded claim shows the capacity, and nothing of the expansion is left', () => {
  const condition = (type: string) => ({ type, status: 'True' })
  const before = {
    phase: 'Bound',
    capacity: { storage: '1Gi' },
    allocatedResourceStatuses: { storage: 'NodeResizePending', other: 'x' },
    conditions: [condition('FileSystemResizePending'), condition('ModifyingVolume')],
  } as const
  deepEqual(expandedStatus(before as never, '2Gi'), {
    phase: 'Bound',
    capacity: { storage: '2Gi' },
    allocatedResourceStatuses: { other: 'x' },
    conditions: [condition('ModifyingVolume')],
  })
  deepEqual(expandedStatus({ phase: 'Bound', allocatedResourceStatuses: { storage: 'x' } }, '2Gi'), {
    phase: 'Bound',
    capacity: { storage: '2Gi' },
  })
})

test('a volume is attached when the node uses it and the controller has attached it', () => {
  const name = uniqueName(volume)
  equal(name, 'kubernetes.io/csi/d^h')
  const attached = [{ name, devicePath: '' }]
  equal(isAttached(name, { status: { volumesInUse: [name], volumesAttached: attached } } as never), true)
  equal(isAttached(name, { status: { volumesAttached: attached } } as never), false)
  equal(isAttached(name, { status: { volumesInUse: [name] } } as never), false)
})

test('the publish context is the metadata of the attachment', () => {
  const id = attachmentName(volume, 'n', (text) => text)
  equal(id, 'csi-hdn')
  const attachment = (status: object) => ({ status }) as never
  deepEqual(publishContext(volume, attachment({ attached: true, attachmentMetadata: { a: 'b' } }), id), { a: 'b' })
  deepEqual(publishContext(volume, attachment({ attached: true }), id), {})
  const prefix = 'MountVolume.WaitForAttach failed for volume "pv" : '
  throws(() => publishContext(volume, attachment({ attached: false, attachError: { message: 'no' } }), id), {
    message: `${prefix}no`,
  })
  throws(() => publishContext(volume, attachment({ attached: false }), id), {
    message: `${prefix}volume attachment csi-hdn is not attached`,
  })
  throws(() => publishContext(volume, undefined, id), {
    message: `${prefix}volume pv has GET error for volume attachment csi-hdn: volumeattachments.storage.k8s.io "csi-hdn" not found`,
  })
})

test('an error of a driver is shown as gRPC shows it; some leave open whether the call took effect', () => {
  const error = new CsiCallError('NOT_FOUND', 'no volume', undefined)
  equal(error.message, 'rpc error: code = NotFound desc = no volume')
  equal(error.isFinal, true)
  equal(new CsiCallError('ABORTED', '', undefined).isFinal, false)
})

test('the usage of a volume contains the units that the driver reports', () => {
  const usage = { available: 1, total: 3, used: 2, unit: 'BYTES' } as const
  deepEqual(volumeUsage({ usage: [usage], volumeCondition: undefined }, 't'), {
    time: 't',
    availableBytes: 1,
    capacityBytes: 3,
    usedBytes: 2,
  })
  const inodes = { ...usage, unit: 'INODES' } as const
  deepEqual(volumeUsage({ usage: [inodes], volumeCondition: undefined }, 't'), {
    time: 't',
    inodesFree: 1,
    inodes: 3,
    inodesUsed: 2,
  })
})

test('the description of a volume is read as it was written; other files are ignored', async () => {
  const disk = new SimulatedDisk()
  const data = { driverName: 'd', volumeHandle: 'h' }
  equal(await readVolumeData(disk, '/v'), undefined)
  await writeVolumeData(disk, '/v', data)
  deepEqual(await readVolumeData(disk, '/v'), data)
  for (const text of ['{', 'null', '{"driverName":1,"volumeHandle":"h"}']) {
    await disk.write('/v/vol_data.json', { content: new TextEncoder().encode(text), mode: 0o644 })
    equal(await readVolumeData(disk, '/v'), undefined)
  }
})
