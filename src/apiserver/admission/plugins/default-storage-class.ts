// DefaultStorageClass: a claim without a class gets the cluster's default class, if there is one.
import {
  persistentVolumeClaim,
  type PersistentVolumeClaim,
} from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { storageClass } from '../../../api/storage/v1/storage-class.ts'
import { defaultClassOf } from './default-class.ts'
import { defineAdmissionPlugin } from '../framework/admission-plugin.ts'

const defaultAnnotation = 'storageclass.kubernetes.io/is-default-class'
const classAnnotation = 'volume.beta.kubernetes.io/storage-class'

export const defaultStorageClass = defineAdmissionPlugin({
  name: 'DefaultStorageClass',
  handles: { operations: ['create'], kinds: [persistentVolumeClaim] },
  admit({ object }, host) {
    const claim = object as PersistentVolumeClaim
    const isNamed =
      claim.spec.storageClassName !== undefined || claim.metadata.annotations?.[classAnnotation] !== undefined
    const found = isNamed ? undefined : defaultClassOf(host.list(storageClass, ''), defaultAnnotation)
    return found === undefined ? claim : { ...claim, spec: { ...claim.spec, storageClassName: found.metadata.name } }
  },
})
