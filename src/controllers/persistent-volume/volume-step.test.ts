// The next step for a volume, as a table.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { aClaim, aVolume } from './binder.harness.ts'
import { provisioningBy } from './provisioners.ts'
import type { Step } from './step.ts'
import { volumeStep } from './volume-step.ts'

const shown = (step: Step): string => {
  if (step.kind === 'rest') return ['rest', ...step.events.map(({ note }) => note.message)].join(' ')
  if (step.kind === 'claim') return 'claim'
  if (step.kind === 'delete') return `delete ${step.path}`
  const { volume, through, note } = step
  if (through === 'status')
    return [volume.status.phase, ...(note === undefined ? [] : [`${note.reason}: ${note.message}`])].join(' ')
  const { metadata, spec } = volume
  return JSON.stringify([spec.claimRef ?? null, metadata.annotations ?? {}, metadata.finalizers ?? []])
}

const reference = { claimRef: { namespace: 'default', name: 'c', uid: 'uid-c' } }
const released = { status: { phase: 'Released' } }
const policy = (persistentVolumeReclaimPolicy: string) => ({ ...reference, persistentVolumeReclaimPolicy })
const withNone = { hostPath: undefined }
const provisioned = (by: string, more: object = {}) => ({
  metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': by }, ...more },
})
const migrated = { 'pv.kubernetes.io/migrated-to': 'ebs.csi.aws.com' }
const byController = { metadata: { annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } } }
const mine = aClaim('c', { volumeName: 'v' })
const elsewhere = aClaim('c', { volumeName: 'w' })

type Row = readonly [what: string, volume: PersistentVolume, claim: PersistentVolumeClaim | undefined, step: string]
const rows: readonly Row[] = [
  ['new', aVolume('v', {}, { status: { phase: 'Pending' } }), undefined, 'Available'],
  ['available', aVolume('v'), undefined, 'rest'],
  ['a reservation', aVolume('v', { claimRef: { namespace: 'default', name: 'c' } }, released), undefined, 'Available'],
  ['its claim', aVolume('v', reference), mine, 'Bound'],
  ['its claim, bound', aVolume('v', reference, { status: { phase: 'Bound' } }), mine, 'rest'],
  ['its claim does not refer to it yet', aVolume('v', reference), aClaim('c'), 'rest'],
  [
    'its claim has another volume mode',
    aVolume('v', { ...reference, volumeMode: 'Block' }),
    aClaim('c'),
    'rest Cannot bind PersistentVolume to requested PersistentVolumeClaim "c" due to incompatible volumeMode. Cannot bind PersistentVolume "v" to requested PersistentVolumeClaim due to incompatible volumeMode.',
  ],
  ['its claim is gone', aVolume('v', reference), undefined, 'Released'],
  ['Retain', aVolume('v', policy('Retain'), released), undefined, 'rest'],
  [
    'Delete, a hostPath',
    aVolume('v', policy('Delete'), released),
    undefined,
    'Failed VolumeFailedDelete: host_path deleter only supports /tmp/.+ but received provided /x',
  ],
  [
    'Delete, a directory in /tmp',
    aVolume('v', { ...policy('Delete'), hostPath: { path: '/tmp/x' } }, released),
    undefined,
    'delete /tmp/x',
  ],
  [
    'Delete, a directory in /tmp, deleted already',
    aVolume(
      'v',
      { ...policy('Delete'), hostPath: { path: '/tmp/x' } },
      { ...released, metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } },
    ),
    undefined,
    'rest',
  ],
  [
    'Delete, a directory tmp of another one',
    aVolume('v', { ...policy('Delete'), hostPath: { path: '/srv/tmp/x' } }, released),
    undefined,
    'Failed VolumeFailedDelete: host_path deleter only supports /tmp/.+ but received provided /srv/tmp/x',
  ],
  ['Delete, failed', aVolume('v', policy('Delete'), { status: { phase: 'Failed' } }), undefined, 'rest'],
  [
    'Delete, local',
    aVolume('v', { ...policy('Delete'), ...withNone, local: { path: '/x' } }, released),
    undefined,
    'Failed VolumeFailedDelete: error getting deleter volume plugin for volume "v": no volume plugin matched',
  ],
  [
    'Delete, nfs',
    aVolume('v', { ...policy('Delete'), ...withNone, nfs: { server: 's', path: '/' } }, released),
    undefined,
    'Failed VolumeFailedDelete: error getting deleter volume plugin for volume "v": no deletable volume plugin matched',
  ],
  [
    'Delete, a driver',
    aVolume('v', { ...policy('Delete'), ...withNone, csi: { driver: 'd', volumeHandle: 'h' } }, released),
    undefined,
    'rest',
  ],
  [
    'Delete, an external provisioner',
    aVolume('v', policy('Delete'), { ...released, ...provisioned('x') }),
    undefined,
    'rest',
  ],
  [
    'Delete, a provisioner of the tree',
    aVolume('v', policy('Delete'), {
      ...released,
      ...provisioned('kubernetes.io/x', { finalizers: ['kubernetes.io/pv-controller'] }),
    }),
    undefined,
    'Failed VolumeFailedDelete: no volume plugin matched name: kubernetes.io/x',
  ],
  [
    'Delete, a provisioner that a driver has replaced',
    aVolume('v', policy('Delete'), {
      ...released,
      metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/aws-ebs', ...migrated } },
    }),
    undefined,
    'rest',
  ],
  [
    'Recycle',
    aVolume('v', policy('Recycle'), released),
    undefined,
    'Failed VolumeFailedRecycle: No recycler plugin found for the volume!',
  ],
  [
    'an unknown policy',
    aVolume('v', policy('Burn'), released),
    undefined,
    'Failed VolumeUnknownReclaimPolicy: Volume has unrecognized reclaim policy',
  ],
  [
    'its claim is bound elsewhere, and it was reserved',
    aVolume('v', reference),
    elsewhere,
    '[{"namespace":"default","name":"c"},{},[]]',
  ],
  ['its claim is bound elsewhere, and it was chosen', aVolume('v', reference, byController), elsewhere, '[null,{},[]]'],
  [
    'its claim is bound elsewhere, and it was provisioned',
    aVolume('v', policy('Delete'), provisioned('x')),
    elsewhere,
    'Released',
  ],
  [
    'a finalizer is added',
    aVolume('v', { persistentVolumeReclaimPolicy: 'Delete' }, provisioned('kubernetes.io/x')),
    undefined,
    '[null,{"pv.kubernetes.io/provisioned-by":"kubernetes.io/x"},["kubernetes.io/pv-controller"]]',
  ],
  [
    'a finalizer is removed',
    aVolume(
      'v',
      { persistentVolumeReclaimPolicy: 'Retain' },
      provisioned('kubernetes.io/x', { finalizers: ['kubernetes.io/pv-controller'] }),
    ),
    undefined,
    '[null,{"pv.kubernetes.io/provisioned-by":"kubernetes.io/x"},[]]',
  ],
  [
    'a driver replaces the provisioner',
    aVolume(
      'v',
      { persistentVolumeReclaimPolicy: 'Delete' },
      provisioned('kubernetes.io/aws-ebs', { finalizers: ['kubernetes.io/pv-controller'] }),
    ),
    undefined,
    `[null,${JSON.stringify({ 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/aws-ebs', ...migrated })},[]]`,
  ],
]

for (const [what, volume, claim, step] of rows)
  test(`a volume: ${what}`, () => deepEqual(shown(volumeStep(volume, claim)), step))

const provisioners: readonly (readonly [name: string, result: object])[] = [
  ['example.com/x', { kind: 'external', provisioner: 'example.com/x' }],
  ['kubernetes.io/gce-pd', { kind: 'external', provisioner: 'pd.csi.storage.gke.io' }],
  [
    'kubernetes.io/host-path',
    {
      kind: 'impossible',
      provisioner: 'kubernetes.io/host-path',
      why: 'Failed to create provisioner: provisioning in volume plugin "kubernetes.io/host-path" is disabled',
    },
  ],
  ['kubernetes.io/nfs', { kind: 'impossible', why: 'no provisionable volume plugin matched' }],
  ['kubernetes.io/x', { kind: 'impossible', why: 'no volume plugin matched name: kubernetes.io/x' }],
]
for (const [name, result] of provisioners)
  test(`the provisioner ${name}`, () => deepEqual(provisioningBy(name), result))
