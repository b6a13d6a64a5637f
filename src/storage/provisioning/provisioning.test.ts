import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import {
  isClaimOf,
  mustDelete,
  mustReleaseFinalizer,
  provisionerFinalizer,
  selectedNodeOf,
  volumeNameOf,
} from './provisioning.ts'

const finalizers = [provisionerFinalizer]
const deletionTimestamp = '2030-01-01T00:00:00Z'
const volumeOf = (phase: string, policy = 'Delete', metadata: object = { finalizers }) =>
  ({
    metadata: { name: 'v', annotations: { 'pv.kubernetes.io/provisioned-by': 'p' }, ...metadata },
    spec: { persistentVolumeReclaimPolicy: policy },
    status: { phase },
  }) as unknown as PersistentVolume

const volumes: readonly (readonly [what: string, volume: PersistentVolume, isDeleted: boolean, isLetGo: boolean])[] = [
  ['a bound volume stays', volumeOf('Bound'), false, false],
  ['a released one is deleted', volumeOf('Released'), true, false],
  ['one without the finalizer is deleted', volumeOf('Released', 'Delete', {}), true, false],
  [
    'its storage is deleted before the object',
    volumeOf('Released', 'Delete', { finalizers, deletionTimestamp }),
    true,
    false,
  ],
  ['and only once', volumeOf('Released', 'Delete', { deletionTimestamp }), false, false],
  ['a retained one stays', volumeOf('Released', 'Retain', {}), false, false],
  ['one that is now retained gives up its finalizer', volumeOf('Released', 'Retain'), false, true],
  ['one of another provisioner stays', volumeOf('Released', 'Delete', { annotations: {} }), false, false],
]
for (const [what, volume, isDeleted, isLetGo] of volumes)
  test(what, () => deepEqual([mustDelete(volume, 'p'), mustReleaseFinalizer(volume)], [isDeleted, isLetGo]))

const key = 'volume.kubernetes.io/storage-provisioner'
const formerKey = 'volume.beta.kubernetes.io/storage-provisioner'
const claimOf = (annotations: object, volumeName = '') =>
  ({ metadata: { name: 'c', uid: 'u', annotations }, spec: { volumeName } }) as unknown as PersistentVolumeClaim

const claims: readonly (readonly [what: string, claim: PersistentVolumeClaim, isOwn: boolean])[] = [
  ['a claim that names the provisioner', claimOf({ [key]: 'p' }), true],
  ['the former annotation counts too', claimOf({ [formerKey]: 'p' }), true],
  ['but not before the current one', claimOf({ [key]: 'other', [formerKey]: 'p' }), false],
  ['a claim that has a volume', claimOf({ [key]: 'p' }, 'v'), false],
  ['a claim without annotations', claimOf({}), false],
]
for (const [what, claim, isOwn] of claims) test(what, () => equal(isClaimOf(claim, 'p'), isOwn))

test('the volume is named after the claim, and an empty node is none', () => {
  const claim = claimOf({ 'volume.kubernetes.io/selected-node': '' })
  deepEqual([volumeNameOf(claim), selectedNodeOf(claim)], ['pvc-u', undefined])
})
