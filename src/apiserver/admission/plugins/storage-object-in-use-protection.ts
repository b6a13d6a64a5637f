// StorageObjectInUseProtection: adds the protection finalizers to new volumes, claims and VolumeAttributesClasses.
import { claimFinalizer, persistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume, volumeFinalizer } from '../../../api/core/v1/volume/persistent-volume.ts'
import { attributesClassFinalizer, volumeAttributesClass } from '../../../api/storage/v1/volume-attributes-class.ts'
import { defineAdmissionPlugin } from '../framework/admission-plugin.ts'

const finalizers = new Map([
  [persistentVolume.kind, volumeFinalizer],
  [persistentVolumeClaim.kind, claimFinalizer],
  [volumeAttributesClass.kind, attributesClassFinalizer],
])

export const storageObjectInUseProtection = defineAdmissionPlugin({
  name: 'StorageObjectInUseProtection',
  handles: { operations: ['create'], kinds: [persistentVolume, persistentVolumeClaim, volumeAttributesClass] },
  admit({ object, kind }) {
    if (object === undefined) return object
    const finalizer = finalizers.get(kind.kind) ?? ''
    const { finalizers: known = [] } = object.metadata
    if (known.includes(finalizer)) return object
    return { ...object, metadata: { ...object.metadata, finalizers: [...known, finalizer] } }
  },
})
