// Rules of a PersistentVolumeClaim: its spec, its data sources, and what may change.
import { append } from '../../../../base/collections/append.ts'
import {
  forbidden,
  immutable,
  invalid,
  notSupported,
  required,
  type FieldError,
} from '../../../../schema/validation/field-error.ts'
import { equalValues, without } from '../../../../schema/json/json-value.ts'
import { validateLabelSelector } from '../../../validation/label-selector-rules.ts'
import { dnsSubdomainErrors, qualifiedNameErrors } from '../../../validation/names.ts'
import { quantityNanos, quantityUnits } from '../../../../schema/scalar/quantity.ts'
import { validateAccessModes } from './access-mode-rules.ts'
import type { ObjectMeta } from '../../../meta/v1/object-meta.ts'
import type { TypedLocalObjectReference, TypedObjectReference } from '../references.ts'
import { isExtendedResource, validatePositiveAmount } from '../resources/resource-name-rules.ts'
import type { PersistentVolumeClaimSpec } from './volume.ts'

type Amounts = Readonly<Record<string, string>>

/** The fields that update rules compare. */
interface Claim {
  readonly metadata: ObjectMeta
  readonly spec: PersistentVolumeClaimSpec
  readonly status: {
    readonly phase?: string
    readonly capacity?: Amounts
    readonly allocatedResources?: Amounts
    readonly allocatedResourceStatuses?: Amounts
    readonly currentVolumeAttributesClassName?: string
  }
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
  if (annotation !== oldAnnotation) errors.push(immutable(`metadata.annotations.${classAnnotation}`, annotation ?? ''))
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
  append(errors, validateAttributesClassChange(object, old))
  return errors
}

// Immutable fields: the volume and the class are set once, and only a bound claim may request more storage.
function fixedPart(spec: PersistentVolumeClaimSpec, old: PersistentVolumeClaimSpec, isBound: boolean): object {
  const { volumeName, storageClassName, volumeAttributesClassName, resources, ...rest } = spec
  const { storage, ...otherRequests } = resources.requests ?? {}
  return {
    ...rest,
    ...(isBound ? {} : { volumeAttributesClassName }),
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

function validateAttributesClassChange({ spec: { volumeAttributesClassName: name } }: Claim, old: Claim): FieldError[] {
  const { volumeAttributesClassName: oldName } = old.spec
  if (!oldName || name) return []
  const to = name === undefined ? 'nil' : 'empty string'
  return old.status.currentVolumeAttributesClassName === undefined
    ? []
    : [
        forbidden(
          'spec.volumeAttributesClassName',
          `update to ${to} is forbidden when status.currentVolumeAttributesClassName is not nil`,
        ),
      ]
}

const resizeStatuses = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
]

export function validateClaimStatus({ status }: Claim): FieldError[] {
  const { capacity = {}, allocatedResources = {}, allocatedResourceStatuses = {} } = status
  const errors = validateAmounts(capacity, 'status.capacity')
  for (const [name, value] of Object.entries(allocatedResourceStatuses)) {
    const path = 'status.allocatedResourceStatuses'
    const nameErrors = validateAllocatedName(name, path)
    append(errors, nameErrors)
    // Upstream shows the name of the resource, not its status.
    if (nameErrors.length === 0 && !resizeStatuses.includes(value))
      errors.push(notSupported(path, name, resizeStatuses))
  }
  for (const name of Object.keys(allocatedResources))
    append(errors, validateAllocatedName(name, 'status.allocatedResources'))
  append(errors, validateAmounts(allocatedResources, 'status.allocatedResources'))
  return errors
}

const validateAmounts = (amounts: Amounts, path: string): FieldError[] =>
  Object.entries(amounts)
    .filter(([, amount]) => quantityUnits(amount) < 0)
    .map(([name, amount]) => invalid(`${path}[${name}]`, quantityUnits(amount), 'must be a valid resource quantity'))

/** The storage of the claim, or a resource that a driver defines. */
function validateAllocatedName(name: string, path: string): FieldError[] {
  if (name === 'storage') return []
  const errors = qualifiedNameErrors(name).map((detail) => invalid(path, name, detail))
  return errors.length > 0 || isExtendedResource(name) ? errors : [notSupported(path, name, ['storage'])]
}
