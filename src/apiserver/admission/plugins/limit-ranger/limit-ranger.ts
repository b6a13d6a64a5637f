// LimitRanger: applies the defaults and enforces the limits of a namespace's LimitRanges.
import {
  persistentVolumeClaim,
  type PersistentVolumeClaim,
} from '../../../../api/core/v1/volume/persistent-volume-claim.ts'
import { limitRange, type LimitRange } from '../../../../api/core/v1/quota/limit-range.ts'
import { pod, type Pod } from '../../../../api/core/v1/pod/pod.ts'
import {
  defineAdmissionPlugin,
  admissionForbidden,
  type AdmissionAttributes,
  type AdmissionHost,
} from '../../framework/admission-plugin.ts'
import { claimErrors, podErrors } from './bounds.ts'
import { withContainerDefaults } from './container-defaults.ts'

export const limitRanger = defineAdmissionPlugin({
  name: 'LimitRanger',
  handles: { operations: ['create', 'update'], kinds: [pod, persistentVolumeClaim], subresources: ['', 'resize'] },
  admit(attributes, host) {
    const { kind, operation, object } = attributes
    if (kind !== pod || operation !== 'create') return object
    return rangesOf(attributes, host).reduce(withContainerDefaults, object as Pod)
  },
  validate(attributes, host) {
    const { kind, operation, subresource, object } = attributes
    // Only a resize changes the usage of an existing pod.
    if (kind === pod && operation === 'update' && subresource !== 'resize') return
    const errors = rangesOf(attributes, host).flatMap(({ spec: { limits } }) =>
      kind === pod
        ? podErrors(limits ?? [], (object as Pod).spec)
        : claimErrors(limits ?? [], object as PersistentVolumeClaim),
    )
    if (errors.length > 0)
      throw admissionForbidden(attributes, errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`)
  },
})

const rangesOf = ({ namespace }: AdmissionAttributes, host: AdmissionHost): readonly LimitRange[] =>
  host.list(limitRange, namespace)
