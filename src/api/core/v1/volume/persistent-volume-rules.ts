// Rules of a PersistentVolume: capacity, claim, exactly one source, and the immutability of the source.
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
import { quantityUnits } from '../../../../schema/scalar/quantity.ts'
import { validateAccessModes } from './access-mode-rules.ts'
import { validateNodeSelector } from '../scheduling/affinity-rules.ts'
import { validateClassName } from './persistent-volume-claim-rules.ts'
import { sourcesOf, validateVolumeSource } from './persistent-volume-source-rules.ts'
import type { PersistentVolumeSpec } from './persistent-volume-spec.ts'
import { validatePositiveAmount } from '../resources/resource-name-rules.ts'

export function validateVolumeSpec(spec: PersistentVolumeSpec, path: string): FieldError[] {
  const { accessModes = [], nodeAffinity, storageClassName } = spec
  const errors = accessModes.length > 0 ? [] : [required(`${path}.accessModes`)]
  append(errors, validateAccessModes(accessModes, `${path}.accessModes`))
  append(errors, validateCapacity(spec.capacity, `${path}.capacity`))
  if (nodeAffinity !== undefined)
    append(
      errors,
      nodeAffinity.required === undefined
        ? [required(`${path}.nodeAffinity.required`, 'must specify required node constraints')]
        : validateNodeSelector(nodeAffinity.required, `${path}.nodeAffinity.required`),
    )
  append(errors, validateSources(spec, path))
  append(errors, validateClassName(storageClassName, `${path}.storageClassName`))
  append(errors, validateAttributesClass(spec, path))
  return errors
}

function validateCapacity(capacity: PersistentVolumeSpec['capacity'], path: string): FieldError[] {
  const names = Object.keys(capacity ?? {})
  const errors = names.length > 0 ? [] : [required(path)]
  if (!names.includes('storage') || names.length > 1) errors.push(notSupported(path, capacity, ['storage']))
  for (const [name, amount] of Object.entries(capacity ?? {})) {
    if (quantityUnits(amount) < 0)
      errors.push(invalid(`${path}[${name}]`, quantityUnits(amount), 'must be a valid resource quantity'))
    append(errors, validatePositiveAmount(amount, `${path}[${name}]`))
  }
  return errors
}

function validateSources(spec: PersistentVolumeSpec, path: string): FieldError[] {
  const [first, ...others] = sourcesOf(spec)
  if (first === undefined) return [required(path, 'must specify a volume type')]
  const errors = validateVolumeSource(spec, first, `${path}.${first}`)
  if (first === 'local' && spec.nodeAffinity?.required === undefined)
    errors.push(required(`${path}.nodeAffinity`, 'Local volume requires node affinity'))
  for (const name of others) errors.push(forbidden(`${path}.${name}`, 'may not specify more than 1 volume type'))
  const isRoot = spec.hostPath !== undefined && /^\/[./]*$/.test(spec.hostPath.path)
  if (isRoot && spec.persistentVolumeReclaimPolicy === 'Recycle')
    errors.push(forbidden(`${path}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'"))
  return errors
}

function validateAttributesClass(
  { volumeAttributesClassName: name, csi }: PersistentVolumeSpec,
  path: string,
): FieldError[] {
  if (name === undefined) return []
  const errors = [
    ...(name === '' ? [required(`${path}.volumeAttributesClassName`, 'an empty string is disallowed')] : []),
    ...validateClassName(name, `${path}.volumeAttributesClassName`),
  ]
  if (csi === undefined)
    errors.push(required(`${path}.csi`, 'has to be specified when using volumeAttributesClassName'))
  return errors
}

export function validateVolumeUpdate(spec: PersistentVolumeSpec, old: PersistentVolumeSpec): FieldError[] {
  // Upstream validates the spec of an update twice, and reports each error twice.
  const errors = validateVolumeSpec(spec, 'spec')
  if (!equalValues(sourceFields(spec, old), sourceFields(old, old)))
    errors.push(forbidden('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation'))
  if (spec.volumeMode !== old.volumeMode) errors.push(immutable('volumeMode', spec.volumeMode))
  if (old.nodeAffinity !== undefined && !equalValues(spec.nodeAffinity, old.nodeAffinity))
    errors.push(immutable('nodeAffinity', spec.nodeAffinity))
  return errors
}

// The secret for expansion may be added later, once.
const sourceFields = (spec: PersistentVolumeSpec, old: PersistentVolumeSpec): readonly (readonly [string, unknown])[] =>
  sourcesOf(spec).map((name) => {
    const source = spec[name]
    const mayGain = name === 'csi' && old.csi?.controllerExpandSecretRef === undefined
    return [name, mayGain && spec.csi !== undefined ? without(spec.csi, 'controllerExpandSecretRef') : source]
  })
