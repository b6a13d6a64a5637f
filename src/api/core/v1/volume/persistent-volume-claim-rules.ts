// Rules of a PersistentVolumeClaim: its spec, its data sources, and what may change.
import { append } from '../../../../base/collections/append.ts'
import { forbidden, immutable, invalid, required, type FieldError } from '../../../../schema/validation/field-error.ts'
import { equalValues, without } from '../../../../schema/json/json-value.ts'
import { validateLabelSelector } from '../../../validation/label-selector-rules.ts'
import { dnsSubdomainErrors } from '../../../validation/names.ts'
import { quantityNanos } from '../../../../schema/scalar/quantity.ts'
import { validateAccessModes } from './access-mode-rules.ts'
import type { ObjectMeta } from '../../../meta/v1/object-meta.ts'
import type { TypedLocalObjectReference, TypedObjectReference } from '../references.ts'
import { validatePositiveAmount } from '../resources/resource-name-rules.ts'
import type { PersistentVolumeClaimSpec } from './volume.ts'

/** The fields that update rules compare. */
interface Claim {
  readonly metadata: ObjectMeta
  readonly spec: PersistentVolumeClaimSpec
  readonly status: { readonly phase?: string; readonly capacity?: Readonly<Record<string, string>> }
}

/** The annotation that specified the class before the field existed; it still takes precedence. */
export const classAnnotation = 'volume.beta.kubernetes.io/storage-class'

/** Two fields specify the data source; unless it is in another namespace, each is filled in from the other. */
export function withBothDataSources(spec: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec {
  const { dataSource, dataSourceRef } = spec
  if (dataSource !== undefined && dataSourceRef === undefined) return { ...spec, dataSourceRef: { ...dataSource } }
  if (dataSource === undefined && dataSourceRef !== undefined && !dataSourceRef.namespace)
    return { ...spec, dataSource: without(dataSourceRef, 'namespace') }
  return spec
}

export function validateClaimSpec(spec: PersistentVolumeClaimSpec, path: string): FieldError[] {
  const { accessModes = [], selector, resources, storageClassName, volumeAttributesClassName } = spec
  const errors = accessModes.length > 0 ? [] : [required(`${path}.accessModes`, 'at least 1 access mode is required')]
  if (selector !== undefined) append(errors, validateLabelSelector(selector, `${path}.selector`))
  append(errors, validateAccessModes(accessModes, `${path}.accessModes`))
  const storage = resources.requests?.['storage']
  append(
    errors,
    storage === undefined
      ? [required(`${path}.resources[storage]`)]
      : validatePositiveAmount(storage, `${path}.resources[storage]`),
  )
  append(errors, validateClassName(storageClassName, `${path}.storageClassName`))
  append(errors, validateDataSources(spec, path))
  append(errors, validateClassName(volumeAttributesClassName, `${path}.volumeAttributesClassName`))
  return errors
}

export const validateClassName = (name: string | undefined, path: string): FieldError[] =>
  name ? dnsSubdomainErrors(name).map((detail) => invalid(path, name, detail)) : []

function validateDataSources({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec, path: string): FieldError[] {
  const errors = [
    ...(dataSource === undefined ? [] : validateSource(dataSource, `${path}.dataSource`)),
    ...(dataSourceRef === undefined ? [] : validateSource(dataSourceRef, `${path}.dataSourceRef`)),
  ]
  if (dataSource === undefined || dataSourceRef === undefined) return errors
  if (dataSourceRef.namespace)
    errors.push(invalid(path, `${path}.dataSource`, 'may not be specified when dataSourceRef.namespace is specified'))
  else if (!equalValues(dataSource, without(dataSourceRef, 'namespace')))
    errors.push(invalid(path, `${path}.dataSource`, 'must match dataSourceRef'))
  return errors
}

function validateSource(source: TypedLocalObjectReference | TypedObjectReference, path: string): FieldError[] {
  const { apiGroup, kind, name } = source
  const errors: FieldError[] = []
  if (!name) errors.push(required(`${path}.name`))
  if (!kind) errors.push(required(`${path}.kind`))
  if (!apiGroup && kind !== 'PersistentVolumeClaim')
    errors.push(invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
  if (apiGroup)
    append(
      errors,
      dnsSubdomainErrors(apiGroup).map((detail) => invalid(`${path}.apiGroup`, apiGroup, detail)),
    )
  return errors
}

export function validateClaimUpdate(object: Claim, old: Claim): FieldError[] {
  const errors: FieldError[] = []
  const [annotation, oldAnnotation] = [object, old].map(({ metadata }) => metadata.annotations?.[classAnnotation])
  if (annotation !== oldAnnotation) errors.push(immutable(`metadata.annotations[${classAnnotation}]`, annotation ?? ''))
  const isBound = object.status.phase === 'Bound'
  if (!equalValues(fixedPart(object.spec, old.spec, isBound), fixedPart(old.spec, old.spec, isBound)))
    errors.push(
      forbidden(
        'spec',
        'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
      ),
    )
  append(errors, validateShrinking(object, old))
  if (object.spec.volumeMode !== old.spec.volumeMode) errors.push(immutable('volumeMode', object.spec.volumeMode))
  append(errors, validateAttributesClassChange(object.spec, old.spec))
  return errors
}

// Immutable fields: the volume and the class are set once, and only a bound claim may request more storage.
function fixedPart(spec: PersistentVolumeClaimSpec, old: PersistentVolumeClaimSpec, isBound: boolean): object {
  const { volumeName, storageClassName, volumeAttributesClassName: _, resources, ...rest } = spec
  const { storage, ...otherRequests } = resources.requests ?? {}
  return {
    ...rest,
    ...(old.volumeName === undefined ? {} : { volumeName }),
    ...(old.storageClassName === undefined ? {} : { storageClassName }),
    resources: { ...resources, requests: isBound ? otherRequests : { ...otherRequests, storage } },
  }
}

function validateShrinking({ spec }: Claim, { spec: old, status }: Claim): FieldError[] {
  const nanos = (text: string | undefined): bigint => (text === undefined ? 0n : (quantityNanos(text) ?? 0n))
  const size = nanos(spec.resources.requests?.['storage'])
  const isSmaller = size < nanos(old.resources.requests?.['storage'])
  return isSmaller && size <= nanos(status.capacity?.['storage'])
    ? [forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')]
    : []
}

function validateAttributesClassChange(
  { volumeAttributesClassName: name }: PersistentVolumeClaimSpec,
  { volumeAttributesClassName: old }: PersistentVolumeClaimSpec,
): FieldError[] {
  if (!old || name) return []
  const to = name === undefined ? 'nil' : 'an empty string'
  return [forbidden('spec.volumeAttributesClassName', `update from non-nil value to ${to} is forbidden`)]
}
