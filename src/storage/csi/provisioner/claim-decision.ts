// What a provisioner does for a claim or a volume, without acting.
import { lookup } from '../../../base/collections/lookup.ts'
import type { PersistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { isBeingDeleted } from '../../../api/meta/object.ts'
import type { StorageClass } from '../../../api/storage/v1/storage-class.ts'
import { hasFinalizer } from '../../../api/meta/finalizers.ts'

export const provisionerAnnotation = 'volume.kubernetes.io/storage-provisioner'
const betaProvisionerAnnotation = 'volume.beta.kubernetes.io/storage-provisioner'
export const selectedNodeAnnotation = 'volume.kubernetes.io/selected-node'
export const provisionedByAnnotation = 'pv.kubernetes.io/provisioned-by'
/** Keeps a PersistentVolume until its volume is deleted, also when the volume's object is deleted first. */
export const deletionFinalizer = 'external-provisioner.volume.kubernetes.io/finalizer'

export const volumeNameOf = ({ metadata }: PersistentVolumeClaim): string => `pvc-${metadata.uid}`

/** Kinds of data sources that a provisioner fills volumes from; other kinds are left to volume populators. */
const dataSourceKinds = ['PersistentVolumeClaim', 'VolumeSnapshot']

export function mustProvision(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass | undefined,
  driverName: string,
): boolean {
  const { metadata, spec } = claim
  const provisioner =
    lookup(metadata.annotations, provisionerAnnotation) ?? lookup(metadata.annotations, betaProvisionerAnnotation)
  if (spec.volumeName || provisioner !== driverName || storageClass === undefined) return false
  const source = spec.dataSourceRef ?? spec.dataSource
  if (source !== undefined && !dataSourceKinds.includes(source.kind)) return false
  return storageClass.volumeBindingMode !== 'WaitForFirstConsumer' || selectedNodeOf(claim) !== undefined
}

/** The node that the scheduler selected. */
export const selectedNodeOf = ({ metadata }: PersistentVolumeClaim): string | undefined =>
  lookup(metadata.annotations, selectedNodeAnnotation) || undefined

export function mustDelete(volume: PersistentVolume, driverName: string): boolean {
  const { metadata, spec, status } = volume
  if (lookup(metadata.annotations, provisionedByAnnotation) !== driverName) return false
  if (spec.persistentVolumeReclaimPolicy !== 'Delete' || status.phase !== 'Released') return false
  return !isBeingDeleted(volume) || hasFinalizer(volume, deletionFinalizer)
}

/** A volume object that is not reclaimed does not need the finalizer. */
export const mustReleaseFinalizer = (volume: PersistentVolume): boolean =>
  hasFinalizer(volume, deletionFinalizer) && volume.spec.persistentVolumeReclaimPolicy !== 'Delete'
