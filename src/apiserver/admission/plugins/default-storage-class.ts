// DefaultStorageClass: a claim without a class gets the cluster's default class, if there is one.
import {
  persistentVolumeClaim,
  type PersistentVolumeClaim,
} from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { namesClass } from '../../../api/core/v1/volume/claim-binding.ts'
import { defaultStorageClassOf } from '../../../api/storage/v1/default-class.ts'
import { storageClass } from '../../../api/storage/v1/storage-class.ts'
import { defineAdmissionPlugin } from '../framework/admission-plugin.ts'

export const defaultStorageClass = defineAdmissionPlugin({
  name: 'DefaultStorageClass',
  handles: { operations: ['create'], kinds: [persistentVolumeClaim] },
  admit({ object }, host) {
    const claim = object as PersistentVolumeClaim
    const found = namesClass(claim) ? undefined : defaultStorageClassOf(host.list(storageClass, ''))
    return found === undefined ? claim : { ...claim, spec: { ...claim.spec, storageClassName: found.metadata.name } }
  },
})
