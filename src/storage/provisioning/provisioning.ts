// What every external provisioner decides about claims and volumes, without acting: which are its own, which volumes it
// deletes, and what the PersistentVolume of a claim has in common.
import { annotationOf, bindingAnnotations } from '../../api/core/v1/volume/claim-binding.ts'
import { persistentVolumeClaim, type PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { hasFinalizer } from '../../api/meta/finalizers.ts'
import { isBeingDeleted, namespaceOf } from '../../api/meta/object.ts'

/** Keeps a PersistentVolume until its storage is deleted, also when the object is deleted first. */
export const provisionerFinalizer = 'external-provisioner.volume.kubernetes.io/finalizer'

export const volumeNameOf = ({ metadata }: PersistentVolumeClaim): string => `pvc-${metadata.uid}`

/** Whether the provisioner has to create a volume for the claim, once the claim is complete. */
export function isClaimOf(claim: PersistentVolumeClaim, provisionerName: string): boolean {
  const { provisioner, provisionerBeta } = bindingAnnotations
  const by = annotationOf(claim, provisioner) ?? annotationOf(claim, provisionerBeta)
  return by === provisionerName && !claim.spec.volumeName
}

/** The node that the scheduler selected. */
export const selectedNodeOf = (claim: PersistentVolumeClaim): string | undefined =>
  annotationOf(claim, bindingAnnotations.selectedNode) || undefined

export function claimRefOf(claim: PersistentVolumeClaim) {
  const { name, uid, resourceVersion } = claim.metadata
  const { apiVersion, kind } = persistentVolumeClaim
  return { apiVersion, kind, name, namespace: namespaceOf(claim), uid, resourceVersion }
}

export const isVolumeOf = (volume: PersistentVolume, provisionerName: string): boolean =>
  annotationOf(volume, bindingAnnotations.provisionedBy) === provisionerName

export function mustDelete(volume: PersistentVolume, provisionerName: string): boolean {
  const { spec, status } = volume
  if (!isVolumeOf(volume, provisionerName)) return false
  if (spec.persistentVolumeReclaimPolicy !== 'Delete' || status.phase !== 'Released') return false
  return !isBeingDeleted(volume) || hasFinalizer(volume, provisionerFinalizer)
}

/** A volume object that is not reclaimed does not need the finalizer. */
export const mustReleaseFinalizer = (volume: PersistentVolume): boolean =>
  hasFinalizer(volume, provisionerFinalizer) && volume.spec.persistentVolumeReclaimPolicy !== 'Delete'
