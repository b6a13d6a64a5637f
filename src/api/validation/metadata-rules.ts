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
import type { Infer } from '../../schema/descriptor/infer.ts'
import type { Kind } from '../kind/kind.ts'
import { annotationsBytesMax, annotationsTooLong, labelValueErrors, qualifiedNameErrors } from './names.ts'
import type { ApiObject } from '../meta/object.ts'
import type { objectMeta, OwnerReference } from '../meta/v1/object-meta.ts'

const none: Readonly<Record<string, string>> = {}

export function validateMetadata(object: ApiObject, kind: Kind, isNew = false): FieldError[] {
  const { metadata } = object
  const path = 'metadata'
  const nameErrors = (name: string) =>
    isNew && kind.validateNewName !== undefined
      ? [...kind.validateName(name), ...kind.validateNewName(name, object)]
      : kind.validateName(name)
  const errors: FieldError[] = []
  if (metadata.generateName !== undefined)
    for (const detail of nameErrors(withoutLastDash(metadata.generateName)))
      errors.push(invalid(`${path}.generateName`, metadata.generateName, detail))
  if (metadata.name === undefined || metadata.name === '')
    errors.push(required(`${path}.name`, 'name or generateName is required'))
  else for (const detail of nameErrors(metadata.name)) errors.push(invalid(`${path}.name`, metadata.name, detail))
  if (kind.namespaced && !metadata.namespace) errors.push(required(`${path}.namespace`))
  if (!kind.namespaced && metadata.namespace) errors.push(forbidden(`${path}.namespace`, 'not allowed on this type'))
  append(errors, validateMetadataFields(metadata, path))
  if (metadata.finalizers !== undefined && kind.custom === undefined && !lenientGroups.includes(kind.group))
    append(errors, validateFinalizerForms(metadata.finalizers, `${path}.finalizers`))
  return errors
}

/** The rules of the fields that have the same meaning in all metadata, also in that of embedded resources. */
export function validateMetadataFields(
  { generation, labels, annotations = none, ownerReferences, finalizers = [] }: Infer<typeof objectMeta>,
  path: string,
): FieldError[] {
  const errors: FieldError[] = []
  if (generation !== undefined && generation < 0)
    errors.push(invalid(`${path}.generation`, generation, 'must be greater than or equal to 0'))
  if (labels !== undefined) append(errors, validateLabels(labels, `${path}.labels`))
  for (const name in annotations)
    for (const detail of qualifiedNameErrors(name.toLowerCase()))
      errors.push(invalid(`${path}.annotations`, name, detail))
  if (annotationsTooLong(annotations)) errors.push(tooLong(`${path}.annotations`, annotationsBytesMax))
  if (ownerReferences !== undefined) append(errors, validateOwners(ownerReferences, `${path}.ownerReferences`))
  for (const name of finalizers)
    for (const detail of qualifiedNameErrors(name)) errors.push(invalid(`${path}.finalizers`, name, detail))
  return errors
}

/** Upstream's errors do not name the index of a reference. */
function validateOwners(owners: readonly Partial<OwnerReference>[], path: string): FieldError[] {
  const errors: FieldError[] = []
  for (const owner of owners) {
    const { apiVersion = '', kind } = owner
    if (apiVersion.split('/').length > 2 || apiVersion.endsWith('/') || apiVersion === '')
      errors.push(invalid(`${path}.apiVersion`, apiVersion, 'version must not be empty'))
    for (const field of ['kind', 'name', 'uid'] as const)
      if (!owner[field]) errors.push(invalid(`${path}.${field}`, '', 'must not be empty'))
    if (apiVersion === 'v1' && kind === 'Event')
      errors.push(invalid(path, shownOwner(owner), '/v1, Kind=Event is disallowed from being an owner'))
  }
  const [first, second] = owners.filter((owner) => owner.controller)
  if (first === undefined || second === undefined) return errors
  const shown = owners.map(shownOwner)
  const named = `${first.kind}/${first.name} and ${second.kind}/${second.name}`
  const detail = `Only one reference can have Controller set to true. Found "true" in references for ${named}`
  return [...errors, invalid(path, shown, detail)]
}

const shownOwner = ({ apiVersion, kind, name, uid, ...others }: Partial<OwnerReference>): object => ({
  apiVersion: apiVersion ?? '',
  kind: kind ?? '',
  name: name ?? '',
  uid: uid ?? '',
  ...others,
})

/** A prefix may end with a dash, because more characters follow. */
export const withoutLastDash = (prefix: string): string => (prefix.length > 1 ? prefix.replace(/-$/, 'a') : prefix)

const standardFinalizers = ['kubernetes', 'orphan', 'foregroundDeletion']
/** Groups that accept every valid finalizer name, as custom resources do. */
const lenientGroups = ['admissionregistration.k8s.io', 'apiextensions.k8s.io', 'apiregistration.k8s.io']

const validateFinalizerForms = (names: readonly string[], path: string): FieldError[] =>
  names.flatMap((name, index) =>
    name.includes('/') || standardFinalizers.includes(name)
      ? []
      : [invalid(`${path}[${index}]`, name, 'name is neither a standard finalizer name nor is it fully qualified')],
  )

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
