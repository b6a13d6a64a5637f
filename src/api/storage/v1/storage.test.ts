// Tables for storage: classes, drivers and attachments.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, objectFrom, testInvalidObjects, updateErrorsOf } from '../../kind/kind.harness.ts'
import { csiDriver } from './csi-driver.ts'
import { csiNode } from './csi-node.ts'
import { csiStorageCapacity } from './csi-storage-capacity.ts'
import { storageClass } from './storage-class.ts'
import { volumeAttachment } from './volume-attachment.ts'
import { volumeAttributesClass } from './volume-attributes-class.ts'

const provisioner = 'x.y/z'
const zones = (...values: string[]) => ({ matchLabelExpressions: [{ key: 'zone', values }] })
const driver = { name: 'a.b', nodeID: 'n' }
const attachment = { attacher: 'a.b', nodeName: 'n', source: { persistentVolumeName: 'pv' } }

testInvalidObjects(storageClass, [
  ['only a provisioner', { provisioner }, []],
  ['no provisioner', {}, ['provisioner: Required value']],
  ['a provisioner in upper case', { provisioner: 'X.Y/Z' }, []],
  [
    'a provisioner that is not a qualified name',
    { provisioner: 'x/y/z' },
    [/^provisioner: Invalid value: "x\/y\/z": a valid label key/],
  ],
  [
    'the reclaim policy Recycle',
    { provisioner, reclaimPolicy: 'Recycle' },
    ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"'],
  ],
  [
    'another binding mode',
    { provisioner, volumeBindingMode: 'Never' },
    ['volumeBindingMode: Unsupported value: "Never": supported values: "Immediate", "WaitForFirstConsumer"'],
  ],
  [
    'a parameter without a name',
    { provisioner, parameters: { '': 'x' } },
    ['parameters: Invalid value: "": field can not be empty.'],
  ],
  [
    'parameters beyond the size limit',
    { provisioner, parameters: { a: 'x'.repeat(256 << 10) } },
    ['parameters: Too long: may not be more than 262144 bytes'],
  ],
  ['topologies that differ', { provisioner, allowedTopologies: [zones('a'), zones('b')] }, []],
  [
    'the same topology twice, in another order',
    { provisioner, allowedTopologies: [zones('a', 'b'), zones('b', 'a')] },
    ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
  ],
  [
    'a topology with the same value twice',
    { provisioner, allowedTopologies: [zones('a', 'a')] },
    ['allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a"'],
  ],
])

testInvalidObjects(volumeAttributesClass, [
  ['a driver and parameters', { driverName: 'a.b', parameters: { iops: '1' } }, []],
  [
    'nothing',
    {},
    ['driverName: Required value', 'parameters: Required value: must contain at least one key/value pair'],
  ],
])

testInvalidObjects(csiDriver, [
  ['nothing', {}, []],
  [
    'unknown values',
    { spec: { fsGroupPolicy: 'x', volumeLifecycleModes: ['Persistent', 'y'] } },
    [
      'spec.fsGroupPolicy: Unsupported value: "x": supported values: "File", "None", "ReadWriteOnceWithFSType"',
      'spec.volumeLifecycleModes: Unsupported value: "y": supported values: "Persistent", "Ephemeral"',
    ],
  ],
  [
    'tokens whose lifetime is too short or too long, and duplicate audiences',
    {
      spec: {
        tokenRequests: [
          { audience: 'a', expirationSeconds: 599 },
          { audience: 'b', expirationSeconds: 2 ** 32 + 1 },
          { audience: 'a' },
        ],
      },
    },
    [
      'spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
      'spec.tokenRequests[1].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
      'spec.tokenRequests[2].audience: Duplicate value: "a"',
    ],
  ],
  [
    'an update period below the minimum',
    { spec: { nodeAllocatableUpdatePeriodSeconds: 9 } },
    ['spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds'],
  ],
])

testInvalidObjects(csiNode, [
  ['a driver with topology', { spec: { drivers: [{ ...driver, topologyKeys: ['a.b/zone'] }] } }, []],
  [
    'a driver without a name and an id',
    { spec: { drivers: [{}] } },
    ['spec.drivers[0].name: Required value', 'spec.drivers[0].nodeID: Required value'],
  ],
  [
    'a driver twice, the second time with a key twice',
    { spec: { drivers: [driver, { ...driver, topologyKeys: ['k', 'k'] }] } },
    ['spec.drivers[1].name: Duplicate value: "a.b"', 'spec.drivers[1]: Duplicate value: "k"'],
  ],
  [
    'a negative capacity',
    { spec: { drivers: [{ ...driver, allocatable: { count: -1 } }] } },
    ['spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'names that are too long',
    { spec: { drivers: [{ name: 'a'.repeat(64), nodeID: 'n'.repeat(257) }] } },
    [
      'spec.drivers[0].name: Too long: may not be more than 63 bytes',
      /^spec\.drivers\[0\]\.nodeID: Invalid value: "n+": must be 256 characters or less$/,
    ],
  ],
])

testInvalidObjects(csiStorageCapacity, [
  ['a class and a capacity', { storageClassName: 's', capacity: '1Gi' }, []],
  ['no class', {}, [/^storageClassName: Invalid value: "": a lowercase RFC 1123 subdomain/]],
  [
    'a negative amount',
    { storageClassName: 's', capacity: '-1' },
    ['capacity: Invalid value: "-1": must be greater than or equal to 0'],
  ],
])

testInvalidObjects(volumeAttachment, [
  ['a volume on a node', { spec: attachment }, []],
  [
    'no source',
    { spec: { ...attachment, source: {} } },
    ['spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName'],
  ],
  [
    'a source without a name',
    { spec: { ...attachment, source: { persistentVolumeName: '' } } },
    [
      'spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName',
      /^spec\.source\.persistentVolumeName: Invalid value: "": a lowercase/,
    ],
  ],
  [
    'an attacher that is not a driver name',
    { spec: { ...attachment, attacher: 'a_b' } },
    [/^spec\.attacher: Invalid value: "a_b": a lowercase RFC 1123 subdomain/],
  ],
  [
    'a negative error code',
    { spec: attachment, status: { attached: false, attachError: { errorCode: -1 } } },
    ['status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive'],
  ],
])

test('a StorageClass deletes volumes and provisions them immediately by default', () => {
  const { reclaimPolicy, volumeBindingMode } = objectFrom(storageClass, { provisioner })
  deepEqual([reclaimPolicy, volumeBindingMode], ['Delete', 'Immediate'])
})

test('a CSIDriver has persistent volumes that are attached by default', () => {
  deepEqual(objectFrom(csiDriver, { spec: { volumeLifecycleModes: [] } }).spec, {
    attachRequired: true,
    podInfoOnMount: false,
    volumeLifecycleModes: ['Persistent'],
    storageCapacity: false,
    fsGroupPolicy: 'ReadWriteOnceWithFSType',
    requiresRepublish: false,
    seLinuxMount: false,
  })
})

test('parameters of volumes are immutable', () => {
  deepEqual(
    updateErrorsOf(
      storageClass,
      { provisioner },
      {
        provisioner: 'other',
        parameters: { a: 'b' },
        reclaimPolicy: 'Retain',
        volumeBindingMode: 'WaitForFirstConsumer',
      },
    ),
    [
      'parameters: Forbidden: updates to parameters are forbidden.',
      'provisioner: Forbidden: updates to provisioner are forbidden.',
      'reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.',
      'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
    ],
  )
  deepEqual(updateErrorsOf(volumeAttributesClass, { driverName: 'a' }, { driverName: 'b' }), [
    'driverName: Forbidden: updates to driverName are forbidden.',
  ])
  deepEqual(updateErrorsOf(csiDriver, {}, { spec: { attachRequired: false, podInfoOnMount: true } }), [
    'spec.attachedRequired: Invalid value: false: field is immutable',
  ])
  deepEqual(updateErrorsOf(csiStorageCapacity, { storageClassName: 'a' }, { storageClassName: 'b', capacity: '1' }), [
    'storageClassName: Invalid value: "b": field is immutable',
  ])
  equal(updateErrorsOf(volumeAttachment, { spec: attachment }, { spec: { ...attachment, nodeName: 'm' } }).length, 1)
})

test('the number of volumes of a node may change, its id may not', () => {
  const drivers = (change: object) => ({ spec: { drivers: [{ ...driver, ...change }] } })
  deepEqual(updateErrorsOf(csiNode, drivers({}), drivers({ allocatable: { count: 5 } })), [])
  deepEqual(updateErrorsOf(csiNode, drivers({}), drivers({ nodeID: 'm' })), [
    'spec.drivers: Invalid value: {"name":"a.b","nodeID":"m","topologyKeys":null}: field is immutable',
  ])
})

test('the cells of storage', () => {
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' }
  const metadata = { name: 'x', creationTimestamp: '2030-01-01T00:00:00Z', annotations }
  deepEqual(cellsOf(storageClass, { metadata, provisioner }), [
    'x (default)',
    provisioner,
    'Delete',
    'Immediate',
    false,
    '60s',
  ])
  deepEqual(cellsOf(volumeAttributesClass, { driverName: 'a.b' }), ['x', 'a.b', '60s'])
  deepEqual(cellsOf(csiDriver, { spec: { tokenRequests: [{ audience: 'a' }, { audience: 'b' }] } }), [
    'x',
    true,
    false,
    false,
    'a,b',
    false,
    'Persistent',
    '60s',
  ])
  equal(cellsOf(csiDriver, {})[4], '<unset>')
  deepEqual(cellsOf(csiNode, { spec: { drivers: [driver] } }), ['x', 1, '60s'])
  deepEqual(cellsOf(csiStorageCapacity, { storageClassName: 's' }), ['x', '2030-01-01T00:00:00Z'])
  deepEqual(cellsOf(volumeAttachment, { spec: attachment, status: { attached: true } }), [
    'x',
    'a.b',
    'pv',
    'n',
    true,
    '60s',
  ])
})

test('a new VolumeAttachment is not attached', () => {
  deepEqual(volumeAttachment.initialStatus?.(objectFrom(volumeAttachment, { spec: attachment })), { attached: false })
})
