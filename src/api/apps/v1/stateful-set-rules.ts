// Rules of a StatefulSet: the claims that its pods mount, its update strategy, and what may change later.
import { append } from '../../../base/collections/append.ts'
import { forbidden, invalid, notSupported, type FieldError } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { persistentVolumeClaim, type PersistentVolumeClaim } from '../../core/v1/volume/persistent-volume-claim.ts'
import { resolveCount, validateCountOrPercent } from '../../validation/count-or-percent.ts'
import { validateLabelSelector } from '../../validation/label-selector-rules.ts'
import { validateLabels } from '../../validation/metadata-rules.ts'
import { dnsLabelErrors } from '../../validation/names.ts'
import { validatePercentLimit } from '../../validation/percent-limit.ts'
import type { StatefulSetSpec, StatefulSetUpdateStrategy } from './stateful-set-spec.ts'
import { validateTemplate, withTemplateDefaults } from '../../core/v1/pod-spec/template-owner-rules.ts'

type Claim = NonNullable<StatefulSetSpec['volumeClaimTemplates']>[number]

export function withStatefulSetDefaults(spec: StatefulSetSpec): StatefulSetSpec {
  const { updateStrategy, volumeClaimTemplates } = spec
  const isBounded = updateStrategy.type !== 'RollingUpdate' || updateStrategy.rollingUpdate !== undefined
  return {
    ...withTemplateDefaults(spec),
    ...(isBounded ? {} : { updateStrategy: { ...updateStrategy, rollingUpdate: { partition: 0 } } }),
    ...(volumeClaimTemplates === undefined
      ? {}
      : { volumeClaimTemplates: volumeClaimTemplates.map(withClaimDefaults) }),
  }
}

/** Upstream shows a template with the kind and version of a claim, whether or not they were sent. */
function withClaimDefaults(claim: Claim): Claim {
  const { kind, apiVersion } = persistentVolumeClaim
  const { metadata, spec, status } = persistentVolumeClaim.applyDefaults(claim as PersistentVolumeClaim)
  const typed = { kind, apiVersion, metadata, spec, status: { ...status, phase: status?.phase ?? 'Pending' } }
  return typed satisfies Claim
}

export function validateStatefulSet(spec: StatefulSetSpec): FieldError[] {
  const { podManagementPolicy, serviceName, persistentVolumeClaimRetentionPolicy: retention } = spec
  const errors: FieldError[] = []
  if (!['OrderedReady', 'Parallel'].includes(podManagementPolicy))
    errors.push(invalid('spec.podManagementPolicy', podManagementPolicy, "must be 'OrderedReady' or 'Parallel'"))
  append(errors, validateUpdateStrategy(spec.updateStrategy, 'spec.updateStrategy'))
  for (const name of ['whenDeleted', 'whenScaled'] as const)
    if (!['Retain', 'Delete'].includes(retention[name]))
      errors.push(
        notSupported(`spec.persistentVolumeClaimRetentionPolicy.${name}`, retention[name], ['Retain', 'Delete']),
      )
  append(errors, validateTemplate(withClaimVolumes(spec), 'statefulset', validateSelector(spec)))
  if (serviceName !== undefined && serviceName !== '')
    for (const detail of dnsLabelErrors(serviceName)) errors.push(invalid('spec.serviceName', serviceName, detail))
  return [...errors, ...validateClaims(spec)]
}

// An invalid selector is reported a second time; with a valid one, the template's labels are validated.
function validateSelector({ selector, template }: StatefulSetSpec): FieldError[] {
  if (selector === undefined || validateLabelSelector(selector, '').length === 0)
    return validateLabels(template.metadata.labels ?? {}, 'spec.template.labels')
  return [
    { reason: 'FieldValueInvalid', field: 'spec.selector', message: `Invalid value: ${JSON.stringify(selector)}` },
  ]
}

function validateUpdateStrategy({ type, rollingUpdate }: StatefulSetUpdateStrategy, path: string): FieldError[] {
  if (type === 'OnDelete')
    return rollingUpdate === undefined
      ? []
      : [invalid(`${path}.rollingUpdate`, inGoNames(rollingUpdate), "only allowed for updateStrategy 'RollingUpdate'")]
  if (type !== 'RollingUpdate') {
    const shown = { Type: type, RollingUpdate: inGoNames(rollingUpdate) }
    return [invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")]
  }
  const maxUnavailable = rollingUpdate?.maxUnavailable
  if (maxUnavailable === undefined) return []
  const at = `${path}.rollingUpdate.maxUnavailable`
  const errors = [...validateCountOrPercent(maxUnavailable, at), ...validatePercentLimit(maxUnavailable, at)]
  if (resolveCount(maxUnavailable, 100, 'up') === 0) errors.push(invalid(at, maxUnavailable, 'cannot be 0'))
  return errors
}

// Messages show this struct with Go's field names.
const inGoNames = (rollingUpdate: StatefulSetUpdateStrategy['rollingUpdate']) =>
  rollingUpdate === undefined
    ? null
    : { Partition: rollingUpdate.partition, MaxUnavailable: rollingUpdate.maxUnavailable ?? null }

const claimsOf = ({ volumeClaimTemplates = [] }: StatefulSetSpec): readonly Claim[] => volumeClaimTemplates

const claimName = ({ metadata }: Claim): string => metadata.name ?? ''

/** The pods as they will be created: each claim is a volume of the same name, unless the template has one. */
function withClaimVolumes(spec: StatefulSetSpec): StatefulSetSpec {
  const { template } = spec
  const { volumes = [] } = template.spec
  const known = new Set(volumes.map(({ name }) => name))
  const claimed = claimsOf(spec)
    .map(claimName)
    .filter((name) => !known.has(name))
    .map((name) => ({ name, persistentVolumeClaim: { claimName: name } }))
  if (claimed.length === 0) return spec
  return { ...spec, template: { ...template, spec: { ...template.spec, volumes: [...volumes, ...claimed] } } }
}

const validateClaims = (spec: StatefulSetSpec): FieldError[] =>
  claimsOf(spec).flatMap((claim, index) =>
    persistentVolumeClaim
      .validate(claim as PersistentVolumeClaim)
      .map((error) => ({ ...error, field: `spec.volumeClaimTemplates[${index}].${error.field}` })),
  )

const fixedFields = ['selector', 'volumeClaimTemplates', 'serviceName', 'podManagementPolicy'] as const

export const validateStatefulSetUpdate = (spec: StatefulSetSpec, old: StatefulSetSpec): FieldError[] =>
  fixedFields.every((name) => equalValues(spec[name], old[name]))
    ? []
    : [
        forbidden(
          'spec',
          "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
        ),
      ]
