// The next step for a claim, as a table. What upstream does in whole scenarios is in test/persistent-volumes.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import type { StorageClass } from '../../api/storage/v1/storage-class.ts'
import { aClaim, aClass, aVolume } from './binder.harness.ts'
import { claimStep } from './claim-step.ts'
import type { Step } from './step.ts'

interface Seen {
  readonly volumes?: readonly PersistentVolume[]
  readonly match?: PersistentVolume
  readonly classes?: readonly StorageClass[]
  readonly standard?: StorageClass
  readonly pods?: readonly string[]
}

const stepOf = (claim: PersistentVolumeClaim, { volumes = [], match, classes = [], standard, pods = [] }: Seen): Step =>
  claimStep(claim, {
    volume: (name) => volumes.find(({ metadata }) => metadata.name === name),
    matchFor: () => match,
    storageClass: (name) => classes.find(({ metadata }) => metadata.name === name),
    defaultClass: () => standard,
    unscheduledPods: () => pods,
  })

const shown = (step: Step): string => {
  if (step.kind === 'rest')
    return ['rest', ...step.events.map(({ note }) => `${note.reason}: ${note.message}`)].join(' ')
  if (step.kind === 'delete') return 'delete'
  const { kind, through = 'spec', note } = step
  return [kind, through, ...(note === undefined ? [] : [note.reason])].join(' ')
}

const annotated = (...names: string[]) => ({
  metadata: { annotations: Object.fromEntries(names.map((name) => [`pv.kubernetes.io/${name}`, 'yes'])) },
})
const completed = annotated('bind-completed', 'bound-by-controller')
const reference = { claimRef: { namespace: 'default', name: 'c', uid: 'uid-c' } }
const boundVolume = aVolume('v', reference, { status: { phase: 'Bound' } })
const boundStatus = {
  status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '5Gi' } },
}
const fast = { storageClassName: 'fast' }
const late = aClass('fast', { volumeBindingMode: 'WaitForFirstConsumer' })
const selected = { metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'n' } } }
const marked = (by: string, more: object = {}) => ({
  metadata: {
    annotations: {
      'volume.kubernetes.io/storage-provisioner': by,
      'volume.beta.kubernetes.io/storage-provisioner': by,
      ...more,
    },
  },
})
const waiting =
  "rest ExternalProvisioning: Waiting for a volume to be created either by the external provisioner 'csi.example.com' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered."
const noClass = 'no persistent volumes available for this claim and no storage class is set'

const rows: readonly (readonly [what: string, claim: PersistentVolumeClaim, seen: Seen, step: string])[] = [
  ['a volume matches', aClaim('c'), { match: aVolume('v') }, 'volume spec'],
  ['the volume refers to the claim', aClaim('c'), { match: aVolume('v', reference) }, 'volume status'],
  ['the volume is bound', aClaim('c'), { match: boundVolume }, 'claim spec'],
  [
    'the claim refers to the volume',
    aClaim('c', { volumeName: 'v' }, completed),
    { volumes: [boundVolume] },
    'claim status',
  ],
  [
    'both are bound',
    aClaim('c', { volumeName: 'v' }, { ...completed, ...boundStatus }),
    { volumes: [boundVolume] },
    'rest',
  ],
  ['the named volume does not exist', aClaim('c', { volumeName: 'v' }), {}, 'rest'],
  ['the named volume is free', aClaim('c', { volumeName: 'v' }), { volumes: [aVolume('v')] }, 'volume spec'],
  [
    'the named volume is too small',
    aClaim('c', { volumeName: 'v' }),
    { volumes: [aVolume('v', { capacity: { storage: '1Mi' } })] },
    'rest VolumeMismatch: Cannot bind to requested volume "v": requested PV is too small',
  ],
  [
    'the named volume has another claim',
    aClaim('c', { volumeName: 'v' }),
    { volumes: [aVolume('v', { claimRef: { namespace: 'default', name: 'd' } })] },
    'rest FailedBinding: volume "v" already bound to a different claim.',
  ],
  ['no volume and no class', aClaim('c'), {}, `rest FailedBinding: ${noClass}`],
  ['no volume, and the phase is wrong', aClaim('c', {}, boundStatus), {}, 'claim status'],
  ['a default class', aClaim('c', { storageClassName: undefined }), { standard: late }, 'claim spec'],
  ['a default class and an empty class', aClaim('c'), { standard: late }, `rest FailedBinding: ${noClass}`],
  [
    'no consumer',
    aClaim('c', fast),
    { classes: [late] },
    'rest WaitForFirstConsumer: waiting for first consumer to be created before binding',
  ],
  [
    'one consumer',
    aClaim('c', fast),
    { classes: [late], pods: ['p'] },
    'rest WaitForPodScheduled: waiting for pod p to be scheduled',
  ],
  [
    'two consumers',
    aClaim('c', fast),
    { classes: [late], pods: ['p', 'q'] },
    'rest WaitForPodScheduled: waiting for pods p,q to be scheduled',
  ],
  ['a selected node', aClaim('c', fast, selected), { classes: [late] }, 'claim spec'],
  [
    'a class that does not exist',
    aClaim('c', fast),
    {},
    'rest ProvisioningFailed: storageclass.storage.k8s.io "fast" not found',
  ],
  ['a provisioner', aClaim('c', fast), { classes: [aClass('fast')] }, 'claim spec'],
  [
    'a provisioner that was named',
    aClaim('c', fast, marked('csi.example.com')),
    { classes: [aClass('fast')] },
    waiting,
  ],
  [
    'another provisioner that was named',
    aClaim('c', fast, marked('other')),
    { classes: [aClass('fast')] },
    'claim spec',
  ],
  [
    'a provisioner that a driver has replaced, and an outdated driver',
    aClaim('c', fast, marked('kubernetes.io/aws-ebs', { 'pv.kubernetes.io/migrated-to': 'x' })),
    { classes: [aClass('fast')] },
    'claim spec',
  ],
  [
    'a driver that replaces nothing',
    aClaim('c', fast, marked('csi.example.com', { 'pv.kubernetes.io/migrated-to': 'x' })),
    { classes: [aClass('fast')] },
    'claim spec',
  ],
  [
    'no provisioner',
    aClaim('c', fast),
    { classes: [aClass('fast', { provisioner: 'kubernetes.io/no-provisioner' })] },
    'rest ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner',
  ],
  ['a bound claim without a volume name', aClaim('c', {}, completed), {}, 'claim status ClaimLost'],
  ['a bound claim without a volume', aClaim('c', { volumeName: 'v' }, completed), {}, 'claim status ClaimLost'],
  ['a lost claim', aClaim('c', { volumeName: 'v' }, { ...completed, status: { phase: 'Lost' } }), {}, 'rest'],
  [
    'a bound claim whose volume has another claim',
    aClaim('c', { volumeName: 'v' }, completed),
    { volumes: [aVolume('v', { claimRef: { namespace: 'default', name: 'd', uid: 'uid-d' } })] },
    'claim status ClaimMisbound',
  ],
  [
    'a bound claim whose volume lost its reference',
    aClaim('c', { volumeName: 'v' }, completed),
    { volumes: [aVolume('v')] },
    'volume spec',
  ],
]

for (const [what, claim, seen, step] of rows)
  test(`a claim: ${what}`, () => deepEqual(shown(stepOf(claim, seen)), step))

test('a binding writes the reference with its uid, the annotations and the status', () => {
  const first = stepOf(aClaim('c'), { match: aVolume('v') })
  deepEqual(first.kind === 'volume' && [first.volume.spec.claimRef?.uid, first.volume.metadata.annotations], [
    'uid-c',
    { 'pv.kubernetes.io/bound-by-controller': 'yes' },
  ])
  const reserved = stepOf(aClaim('c'), { match: aVolume('v', { claimRef: { namespace: 'default', name: 'c' } }) })
  deepEqual(reserved.kind === 'volume' && [reserved.volume.spec.claimRef?.uid, reserved.volume.metadata.annotations], [
    'uid-c',
    undefined,
  ])
  const third = stepOf(aClaim('c'), { match: boundVolume })
  deepEqual(third.kind === 'claim' && [third.claim.spec.volumeName, third.claim.metadata.annotations], [
    'v',
    { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' },
  ])
  const gold = aVolume('v', { ...reference, volumeAttributesClassName: 'gold' }, { status: { phase: 'Bound' } })
  const last = stepOf(aClaim('c', { volumeName: 'v' }, completed), { volumes: [gold] })
  deepEqual(last.kind === 'claim' && last.claim.status, {
    ...boundStatus.status,
    currentVolumeAttributesClassName: 'gold',
  })
})
