// Rules of a CustomResourceDefinition except its schemas: names, versions, columns, subresources, conversion, approval.
// Upstream moves what all versions have in common to the top of the spec, and its messages use that path; so do ours.
import type { Slice, Sliced } from '../../../base/work/work-slice.ts'
import { append } from '../../../base/collections/append.ts'
import { duplicate, invalid, notSupported, required, tooMany } from '../../../schema/validation/field-error.ts'
import { immutable, type FieldError } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { dns1035LabelErrors, dnsSubdomainErrors } from '../../validation/names.ts'
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  CustomResourceValidation,
  SelectableField,
} from './custom-resource-definition-spec.ts'
import { validateConversion } from './conversion-rules.ts'
import { validateSchema } from './definition-schema-rules.ts'
import { schemasIn } from './structural-rules.ts'
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'
import { resolveFieldPath } from '../schema/schema-paths.ts'

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']
const deprecationWarningBytesMax = 256
const selectableFieldsMax = 8

/** Fields of a version, or fields of the whole spec that apply to all versions. */
interface VersionedFields {
  readonly schema?: CustomResourceValidation
  readonly subresources?: CustomResourceSubresources
  readonly additionalPrinterColumns?: readonly CustomResourceColumnDefinition[]
  readonly selectableFields?: readonly SelectableField[]
}

const versionedFieldNames = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const

/** Returns the fields that are equal in all versions, and the versions without them. */
function hoisted(versions: readonly CustomResourceDefinitionVersion[]): {
  readonly common: VersionedFields
  readonly versions: readonly CustomResourceDefinitionVersion[]
} {
  const equalFields = versionedFieldNames.filter((name) =>
    versions.every((version) => equalValues(version[name], versions[0]?.[name])),
  )
  const pick = (version: object | undefined, names: readonly string[], keep: boolean) =>
    Object.fromEntries(Object.entries(version ?? {}).filter(([name]) => names.includes(name) === keep))
  return {
    common: pick(versions[0], equalFields, true),
    versions: versions.map(
      (version) => pick(version, equalFields, false) as unknown as CustomResourceDefinitionVersion,
    ),
  }
}

export function* validateDefinitionSpec(
  spec: CustomResourceDefinitionSpec,
  path: string,
  old: CustomResourceDefinitionSpec | undefined,
  slice: Slice,
): Sliced<FieldError[]> {
  const { common, versions } = hoisted(spec.versions ?? [])
  const errors: FieldError[] = [...validateGroup(spec.group, `${path}.group`), ...validateScope(spec.scope, path)]
  const schemas = (spec.versions ?? []).flatMap(({ schema }) => schema?.openAPIV3Schema ?? [])
  if (spec.preserveUnknownFields && schemas.some(hasDefault))
    errors.push(invalid(`${path}.preserveUnknownFields`, true, 'must be false in order to use defaults in the schema'))
  if (common.schema?.openAPIV3Schema === undefined)
    for (const [index, { schema }] of versions.entries())
      if (schema?.openAPIV3Schema === undefined)
        errors.push(required(`${path}.versions[${index}].schema.openAPIV3Schema`))
  for (const [index, version] of versions.entries())
    append(errors, yield* validateVersion(version, common, `${path}.versions[${index}]`, slice))
  append(errors, validateVersionList(spec.versions === undefined ? undefined : versions, `${path}.versions`))
  // Upstream has a field for the name of the first version, with the same rule.
  const first = versions[0]?.name ?? ''
  if (first !== '') append(errors, joined(first, dns1035LabelErrors(first), `${path}.version`))
  append(errors, [...validateRequiredNames(spec.names, `${path}.names`), ...validateNames(spec.names, `${path}.names`)])
  const anyStatus = [common, ...versions].some(({ subresources }) => subresources?.status !== undefined)
  append(
    errors,
    yield* validateVersionedFields(common, path, { schema: `${path}.validation`, hasStatus: anyStatus }, slice),
  )
  if (spec.conversion !== undefined) append(errors, validateConversion(spec.conversion, `${path}.conversion`, old))
  return errors
}

const hasDefault = (schema: JsonSchemaProps): boolean =>
  schema.default !== undefined || schemasIn(schema).some(hasDefault)

export function validateDefinitionSpecUpdate(
  spec: CustomResourceDefinitionSpec,
  old: CustomResourceDefinitionSpec,
  isEstablished: boolean,
): FieldError[] {
  const fixed: readonly (readonly [path: string, value: unknown, before: unknown])[] = [
    ...(isEstablished
      ? ([
          ['spec.scope', spec.scope, old.scope],
          ['spec.names.kind', spec.names.kind, old.names.kind],
        ] as const)
      : []),
    ['spec.group', spec.group, old.group],
    ['spec.names.plural', spec.names.plural, old.names.plural],
  ]
  return fixed.flatMap(([path, value, before]) => (value === before ? [] : [immutable(path, value)]))
}

function validateGroup(group: string, path: string): FieldError[] {
  if (group === '') return [required(path)]
  const details = dnsSubdomainErrors(group)
  if (details.length > 0) return [invalid(path, group, details.join(','))]
  return group.includes('.') ? [] : [invalid(path, group, 'should be a domain with at least one dot')]
}

function validateScope(scope: string, path: string): FieldError[] {
  const scopes = ['Cluster', 'Namespaced']
  if (scope === '') return [required(`${path}.scope`)]
  return scopes.includes(scope) ? [] : [notSupported(`${path}.scope`, scope, scopes)]
}

function* validateVersion(
  version: CustomResourceDefinitionVersion,
  common: VersionedFields,
  path: string,
  slice: Slice,
): Sliced<FieldError[]> {
  const details = dns1035LabelErrors(version.name)
  const subresources = version.subresources ?? common.subresources
  return [
    ...(details.length > 0 ? [invalid(`${path}.name`, version.name, details.join(','))] : []),
    ...deprecationErrors(version).map((detail) =>
      invalid(`${path}.deprecationWarning`, version.deprecationWarning, detail),
    ),
    ...(yield* validateVersionedFields(
      version,
      path,
      { schema: `${path}.schema`, hasStatus: subresources?.status !== undefined },
      slice,
    )),
  ]
}

function deprecationErrors({ deprecated, deprecationWarning }: CustomResourceDefinitionVersion): string[] {
  if (deprecationWarning === undefined) return []
  if (!deprecated) return ['can only be set for deprecated versions']
  const errors: string[] = []
  if (new TextEncoder().encode(deprecationWarning).length > deprecationWarningBytesMax)
    errors.push(`must be <= ${deprecationWarningBytesMax} characters long`)
  if (deprecationWarning === '') errors.push('must not be an empty string')
  const odd = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(deprecationWarning)
  if (odd !== null)
    errors.push(`must only contain printable UTF-8 characters; non-printable character found at index ${odd.index}`)
  return errors
}

const storageDetail = 'must have exactly one version marked as storage version'

function validateVersionList(
  versions: readonly CustomResourceDefinitionVersion[] | undefined,
  path: string,
): FieldError[] {
  if (versions === undefined) return [invalid(path, null, storageDetail)]
  const shown = versions.map(goVersion)
  const errors: FieldError[] = []
  if (new Set(versions.map(({ name }) => name)).size < versions.length)
    errors.push(invalid(path, shown, 'must contain unique version names'))
  if (versions.filter(({ storage }) => storage).length !== 1) errors.push(invalid(path, shown, storageDetail))
  return errors
}

/** Upstream shows the value as its internal type, with Go's field names. */
const goVersion = (version: CustomResourceDefinitionVersion): object => ({
  Name: version.name,
  Served: version.served,
  Storage: version.storage,
  Deprecated: version.deprecated ?? false,
  DeprecationWarning: version.deprecationWarning ?? null,
  Schema: version.schema ?? null,
  Subresources: version.subresources ?? null,
  AdditionalPrinterColumns: version.additionalPrinterColumns ?? null,
  SelectableFields: version.selectableFields ?? null,
})

const validateRequiredNames = (names: CustomResourceDefinitionNames, path: string): FieldError[] =>
  (['plural', 'singular', 'kind', 'listKind'] as const)
    .filter((name) => !names[name])
    .map((name) => required(`${path}.${name}`))

export function validateNames(names: CustomResourceDefinitionNames, path: string): FieldError[] {
  const { plural, singular = '', kind, listKind = '', shortNames = [], categories = [] } = names
  const label = (value: string, at: string) => joined(value, dns1035LabelErrors(value), `${path}.${at}`)
  const mixed = (value: string, at: string) => {
    const details = dns1035LabelErrors(value.toLowerCase())
    return details.length === 0
      ? []
      : [invalid(`${path}.${at}`, value, `may have mixed case, but should otherwise match: ${details.join(',')}`)]
  }
  return [
    ...(plural === '' ? [] : label(plural, 'plural')),
    ...(singular === '' ? [] : label(singular, 'singular')),
    ...(kind === '' ? [] : mixed(kind, 'kind')),
    ...(listKind === '' ? [] : mixed(listKind, 'listKind')),
    ...shortNames.flatMap((name, index) => label(name, `shortNames[${index}]`)),
    ...(kind !== '' && kind === listKind
      ? [invalid(`${path}.listKind`, listKind, 'kind and listKind may not be the same')]
      : []),
    ...categories.flatMap((name, index) => label(name, `categories[${index}]`)),
  ]
}

const joined = (value: string, details: readonly string[], path: string): FieldError[] =>
  details.length === 0 ? [] : [invalid(path, value, details.join(','))]

function* validateVersionedFields(
  { schema, subresources, additionalPrinterColumns = [], selectableFields = [] }: VersionedFields,
  path: string,
  { schema: schemaPath, hasStatus }: { readonly schema: string; readonly hasStatus: boolean },
  slice: Slice,
): Sliced<FieldError[]> {
  return [
    ...(schema?.openAPIV3Schema === undefined
      ? []
      : yield* validateSchema(schema.openAPIV3Schema, schemaPath, hasStatus, slice)),
    ...(subresources === undefined ? [] : validateSubresources(subresources, `${path}.subresources`)),
    ...additionalPrinterColumns.flatMap((column, index) =>
      validateColumn(column, `${path}.additionalPrinterColumns[${index}]`),
    ),
    ...validateSelectableFields(selectableFields, schema, `${path}.selectableFields`),
  ]
}

function validateSubresources({ scale }: CustomResourceSubresources, path: string): FieldError[] {
  if (scale === undefined) return []
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = '' } = scale
  const under = (value: string, name: string, roots: readonly string[], detail: string): FieldError[] => {
    const at = `${path}.scale.${name}`
    const errors = validateSimplePath(value, at)
    if (errors.length > 0 || roots.some((root) => value.startsWith(root))) return errors
    return [invalid(at, value, detail)]
  }
  const needed = (value: string, name: string, root: string) =>
    value === ''
      ? [required(`${path}.scale.${name}`)]
      : under(value, name, [`${root}.`], `should be a json path under ${root}`)
  return [
    ...needed(specReplicasPath, 'specReplicasPath', '.spec'),
    ...needed(statusReplicasPath, 'statusReplicasPath', '.status'),
    ...(labelSelectorPath === ''
      ? []
      : under(
          labelSelectorPath,
          'labelSelectorPath',
          ['.spec.', '.status.'],
          'should be a json path under either .spec or .status',
        )),
  ]
}

const validateSimplePath = (value: string, path: string): FieldError[] =>
  value.startsWith('.') ? [] : [invalid(path, value, 'must be a simple json path starting with .')]

function validateColumn(column: CustomResourceColumnDefinition, path: string): FieldError[] {
  const { name, type, format = '', jsonPath } = column
  const errors: FieldError[] = []
  const types = `must be one of ${columnTypes.join(',')}`
  if (name === '') errors.push(required(`${path}.name`))
  if (type === '') errors.push(required(`${path}.type`, types))
  else if (!columnTypes.includes(type)) errors.push(invalid(`${path}.type`, type, types))
  if (format !== '' && !columnFormats.includes(format))
    errors.push(invalid(`${path}.format`, format, `must be one of ${columnFormats.join(',')}`))
  return [
    ...errors,
    ...(jsonPath === '' ? [required(`${path}.JSONPath`)] : validateSimplePath(jsonPath, `${path}.JSONPath`)),
  ]
}

const selectableTypes = ['string', 'boolean', 'integer']

function validateSelectableFields(
  fields: readonly SelectableField[],
  schema: CustomResourceValidation | undefined,
  path: string,
): FieldError[] {
  const seen = new Set<string>()
  const root = schema?.openAPIV3Schema
  if (fields.length > 0 && root === undefined)
    return [invalid(path, '', 'may only be set when `version.schema.openAPIV3Schema` is not included')]
  const errors = fields.flatMap(({ jsonPath }, index) => {
    const at = `${path}[${index}].jsonPath`
    if (jsonPath === '') return [required(at)]
    const found = resolveFieldPath(root ?? {}, jsonPath, 'dots')
    if (found.kind === 'wrong') return [invalid(at, jsonPath, `is an invalid path: ${found.why}`)]
    const wrong: FieldError[] = []
    if (found.names[0] === 'metadata') wrong.push(invalid(at, jsonPath, 'must not point to fields in metadata'))
    if (!selectableTypes.includes(found.schema.type ?? ''))
      wrong.push(
        invalid(
          at,
          jsonPath,
          'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
        ),
      )
    const key = found.names.join('.')
    if (seen.has(key)) wrong.push(duplicate(at, jsonPath))
    seen.add(key)
    return wrong
  })
  return seen.size > selectableFieldsMax ? [...errors, tooMany(path, seen.size, selectableFieldsMax)] : errors
}

export const approvalAnnotation = 'api-approved.kubernetes.io'
const approvalPage = 'see https://github.com/kubernetes/enhancements/pull/1111'

type Annotations = Readonly<Record<string, string>>

/** Community groups need an annotation with the URL of their API approval, or with "unapproved". */
export function validateApproval(group: string, annotations: Annotations, old?: Annotations): FieldError[] {
  if (!isProtectedGroup(group)) return []
  const state = approvalState(annotations[approvalAnnotation])
  if (state === 'good' || (old !== undefined && approvalState(old[approvalAnnotation]) === state)) return []
  const path = `metadata.annotations[${approvalAnnotation}]`
  const needed = `protected groups must have approval annotation "${approvalAnnotation}"`
  return state === 'missing'
    ? [required(path, `${needed}, ${approvalPage}`)]
    : [
        invalid(
          path,
          annotations[approvalAnnotation],
          `${needed} with either a URL or a reason starting with "unapproved", ${approvalPage}`,
        ),
      ]
}

const isProtectedGroup = (group: string): boolean => /(^|\.)(k8s|kubernetes)\.io$/.test(group)

/** What the annotation of a definition says about the approval of its group. */
export type Approval =
  | { readonly kind: 'approved'; readonly url: string }
  | { readonly kind: 'unapproved'; readonly text: string }
  | { readonly kind: 'not needed' }

export function approvalOf(group: string, annotations: Annotations): Approval {
  const text = annotations[approvalAnnotation] ?? ''
  if (!isProtectedGroup(group) || approvalState(text) !== 'good') return { kind: 'not needed' }
  return text.startsWith('unapproved') ? { kind: 'unapproved', text } : { kind: 'approved', url: text }
}

function approvalState(text = ''): 'missing' | 'good' | 'bad' {
  if (text === '') return 'missing'
  return text.startsWith('unapproved') || /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+/i.test(text) ? 'good' : 'bad'
}
