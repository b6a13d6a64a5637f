// PersistentVolumeClaimResize: a claim can be expanded only if it is bound and its class allows expansion.
import {
  persistentVolumeClaim,
  type PersistentVolumeClaim,
} from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { classAnnotation } from '../../../api/core/v1/volume/persistent-volume-claim-rules.ts'
import { lookup } from '../../../base/collections/lookup.ts'
import { storageClass } from '../../../api/storage/v1/storage-class.ts'
import { quantityNanos } from '../../../schema/scalar/quantity.ts'
import { defineAdmissionPlugin, admissionForbidden, type AdmissionHost } from '../framework/admission-plugin.ts'

export const persistentVolumeClaimResize = defineAdmissionPlugin({
  name: 'PersistentVolumeClaimResize',
  handles: { operations: ['update'], kinds: [persistentVolumeClaim] },
  validate(attributes, host) {
    const now = attributes.object as PersistentVolumeClaim
    const before = attributes.old as PersistentVolumeClaim
    if (sizeOf(now) <= sizeOf(before)) return
    if (before.status.phase !== 'Bound')
      throw admissionForbidden(attributes, 'Only bound persistent volume claims can be expanded')
    if (!mayExpand(now, host))
      throw admissionForbidden(
        attributes,
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      )
  },
})

const sizeOf = ({ spec }: PersistentVolumeClaim): bigint =>
  quantityNanos(spec.resources?.requests?.['storage'] ?? '0') ?? 0n

function mayExpand({ metadata, spec }: PersistentVolumeClaim, host: AdmissionHost): boolean {
  const name = lookup(metadata.annotations, classAnnotation) ?? spec.storageClassName ?? ''
  const found = name === '' ? undefined : host.get(storageClass, '', name)
  return found?.allowVolumeExpansion ?? false
}
