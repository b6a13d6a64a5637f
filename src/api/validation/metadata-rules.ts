// Rules of metadata for all kinds: names, labels, annotations, owners, and what an update may not change.
import { append } from '../../base/collections/append.ts'
import {
  forbidden,
  immutable,
  invalid,
  required,
  tooLong,
  type FieldError,
} from '../../schema/validation/field-error.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { Kind } from '../kind/kind.ts'
import { annotationsBytesMax, annotationsTooLong, labelValueErrors, qualifiedNameErrors } from './names.ts'
import type { ApiObject } from '../meta/object.ts'

const none: Readonly<Record<string, string>> = {}

export function validateMetadata({ metadata }: ApiObject, kind: Kind, path = 'metadata'): FieldError[] {
  const errors: FieldError[] = []
  if (metadata.generateName !== undefined)
    for (const detail of kind.validateName(withoutLastDash(metadata.generateName)))
      errors.push(invalid(`${path}.generateName`, metadata.generateName, detail))
  if (metadata.name === undefined || metadata.name === '')
    errors.push(required(`${path}.name`, 'name or generateName is required'))
  else
    for (const detail of kind.validateName(metadata.name)) errors.push(invalid(`${path}.name`, metadata.name, detail))
  if (kind.namespaced && !metadata.namespace) errors.push(required(`${path}.namespace`))
  if (!kind.namespaced && metadata.namespace) errors.push(forbidden(`${path}.namespace`, 'not allowed on this type'))
  if (metadata.labels !== undefined) append(errors, validateLabels(metadata.labels, `${path}.labels`))
  const { annotations = none, ownerReferences = [] } = metadata
  for (const name in annotations)
    for (const detail of qualifiedNameErrors(name.toLowerCase()))
      errors.push(invalid(`${path}.annotations`, name, detail))
  if (annotationsTooLong(annotations)) errors.push(tooLong(`${path}.annotations`, annotationsBytesMax))
  if (metadata.finalizers !== undefined)
    append(errors, validateFinalizers(metadata.finalizers, kind, `${path}.finalizers`))
  for (const [index, owner] of ownerReferences.entries()) {
    const at = `${path}.ownerReferences[${index}]`
    for (const field of ['apiVersion', 'kind', 'name', 'uid'] as const)
      if (!owner[field])
        errors.push(
          invalid(
            `${at}.${field}`,
            owner[field] ?? '',
            `${field === 'apiVersion' ? 'version' : field} must not be empty`,
          ),
        )
  }
  const managing = ownerReferences.filter((owner) => owner.controller)
  if (managing.length > 1)
    errors.push(
      invalid(
        `${path}.ownerReferences`,
        metadata.ownerReferences,
        `Only one reference can have Controller set to true. Found "true" in references for ${managing[0]?.name} and ${managing[1]?.name}`,
      ),
    )
  return errors
}

/** A prefix may end with a dash, because more characters follow. */
const withoutLastDash = (prefix: string): string => (prefix.length > 1 ? prefix.replace(/-$/, 'a') : prefix)

const standardFinalizers = ['kubernetes', 'orphan', 'foregroundDeletion']
/** Groups that accept every valid finalizer name. */
const lenientGroups = ['admissionregistration.k8s.io', 'apiextensions.k8s.io', 'apiregistration.k8s.io']

const validateFinalizers = (names: readonly string[], { group }: Kind, path: string): FieldError[] => [
  ...names.flatMap((name) => qualifiedNameErrors(name).map((detail) => invalid(path, name, detail))),
  ...names.flatMap((name, index) =>
    name.includes('/') || standardFinalizers.includes(name) || lenientGroups.includes(group)
      ? []
      : [invalid(`${path}[${index}]`, name, 'name is neither a standard finalizer name nor is it fully qualified')],
  ),
]

export function validateLabels(labels: Readonly<Record<string, string>>, path: string): FieldError[] {
  const errors: FieldError[] = []
  for (const name in labels) {
    for (const detail of qualifiedNameErrors(name)) errors.push(invalid(path, name, detail))
    for (const detail of labelValueErrors(labels[name] ?? '')) errors.push(invalid(path, labels[name], detail))
  }
  return errors
}

const fixed = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const

export function validateMetadataUpdate(
  { metadata }: ApiObject,
  { metadata: old }: ApiObject,
  path = 'metadata',
): FieldError[] {
  const errors: FieldError[] = []
  for (const name of fixed)
    if (!equalValues(metadata[name], old[name])) errors.push(immutable(`${path}.${name}`, metadata[name]))
  if (old.deletionTimestamp !== undefined) {
    const before = new Set(old.finalizers)
    const added = (metadata.finalizers ?? []).filter((name) => !before.has(name))
    if (added.length > 0)
      errors.push(
        forbidden(
          `${path}.finalizers`,
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((name) => JSON.stringify(name)).join(', ')}}`,
        ),
      )
  }
  return errors
}
