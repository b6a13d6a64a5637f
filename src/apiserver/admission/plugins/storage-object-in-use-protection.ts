// StorageObjectInUseProtection: adds the protection finalizers to new volumes and claims.
import { claimFinalizer, persistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume, volumeFinalizer } from '../../../api/core/v1/volume/persistent-volume.ts'
import { defineAdmissionPlugin } from '../framework/admission-plugin.ts'

export const storageObjectInUseProtection = defineAdmissionPlugin({
  name: 'StorageObjectInUseProtection',
  handles: { operations: ['create'], kinds: [persistentVolume, persistentVolumeClaim] },
  admit({ object, kind }) {
    if (object === undefined) return object
    const finalizer = kind.kind === persistentVolume.kind ? volumeFinalizer : claimFinalizer
    const { finalizers = [] } = object.metadata
    if (finalizers.includes(finalizer)) return object
    return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } }
  },
})
