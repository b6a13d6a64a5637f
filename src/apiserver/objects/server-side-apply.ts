// Server-side apply: merges the configuration of a manager into an object. Fields of other managers are conflicts
// unless the apply is forced. Fields that the manager applied before and no longer applies are removed, unless another
// manager owns them.
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { ManagedFieldsEntry } from '../../api/meta/v1/object-meta.ts'
import { badRequest, StatusError } from '../../api/errors/status-error.ts'
import { appliedFields } from '../../schema/apply/applied-fields.ts'
import { checkApplied, typeErrorText } from '../../schema/apply/check-applied.ts'
import {
  difference,
  emptySet,
  intersection,
  isEmptySet,
  pathTexts,
  union,
  withoutSubtrees,
  type FieldSet,
} from '../../schema/apply/field-set.ts'
import { removeFields, withStructs } from '../../schema/apply/remove-fields.ts'
import type { StructStructure } from '../../schema/apply/structure.ts'
import { typedMerge } from '../../schema/apply/typed-merge.ts'
import { equalValues, isJsonObject, jsonKind, type JsonObject } from '../../schema/json/json-value.ts'
import { clientSideFields, withLastApplied } from './client-side-apply.ts'
import {
  managedFieldsAfterUpdate,
  Comparisons,
  fieldsOf,
  sortedAndCapped,
  identifierOf,
  isEntryOf,
  neverOwned,
  newEntry,
  releaseFields,
  type ManagedFields,
  type FieldTracking,
} from './managed-fields.ts'

/** The configuration in a body, which must be of the kind of the request. */
export function appliedConfiguration(body: unknown, kind: Kind): JsonObject {
  const config = configurationOf(body, kind)
  const { metadata } = config
  if (isJsonObject(metadata) && metadata['managedFields'] !== undefined && metadata['managedFields'] !== null)
    throw badRequest('metadata.managedFields must be nil')
  return config
}

/** The same without a check of its metadata. */
export function configurationOf(body: unknown, { apiVersion, kind }: Kind): JsonObject {
  if (body === null) throw badRequest(`invalid object type: ${typeText({})}`)
  if (!isJsonObject(body))
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonKind(body)} into Go value of type map[string]interface {}`,
    )
  if (body['apiVersion'] !== apiVersion || body['kind'] !== kind)
    throw badRequest(`invalid object type: ${typeText(body)}`)
  return body
}

/** `apps/v1, Kind=Deployment`; the core group is empty: `/v1, Kind=Pod`. */
function typeText({ apiVersion = '', kind = '' }: JsonObject): string {
  const version = String(apiVersion)
  return `${version.includes('/') ? version : `/${version}`}, Kind=${String(kind)}`
}

export interface ApplyResult {
  readonly body: JsonObject
  readonly managedFields: ManagedFields
  readonly isApplied: true
}

export interface ApplyOptions extends FieldTracking {
  readonly structure: StructStructure
  readonly force: boolean
  /** The version that conflicts name, if it is not that of the entries. */
  readonly shownVersion?: string
}

/** The manager of fields that were set before managers were tracked. */
const beforeFirstApply = 'before-first-apply'

export function applyConfiguration(
  live: ApiObject | undefined,
  config: JsonObject,
  options: ApplyOptions,
): ApplyResult {
  const { structure, writer, ignored, nowMs } = options
  rejectInvalid(config, structure)
  const applied = withoutSubtrees(appliedFields(structure, config), ignored)
  const own = newEntry(writer, 'Apply', difference(applied, neverOwned), nowMs)
  if (live === undefined) return { body: config, managedFields: withEntry([], own), isApplied: true }
  const entries = knownEntries(live, options)
  const last = entries.find((entry) => isEntryOf(entry, writer, 'Apply'))
  const others = entries.filter((entry) => entry !== last)
  const merged = typedMerge(structure, live as unknown as JsonObject, config)
  const object = pruned(merged, applied, last, others, structure)
  const comparisons = new Comparisons(live, object, options)
  if (!options.force) rejectConflicts(conflictsOf(others, comparisons), live, options)
  // An apply that changes nothing keeps the time of the last one.
  const { time: _, ...timeless } = own
  const timed = equalValues(live, object)
    ? { ...timeless, ...(last?.time === undefined ? {} : { time: last.time }) }
    : own
  return {
    body: writer.manager === kubectl ? withLastApplied(object, config) : object,
    managedFields: withEntry(releaseFields(others, comparisons), timed),
    isApplied: true,
  }
}

/** The only manager that also applies on the client side. */
const kubectl = 'kubectl'

const withEntry = (others: ManagedFields, own: ManagedFieldsEntry): ManagedFields =>
  sortedAndCapped(isEmptySet(fieldsOf(own)) ? others : [...others, own])

function knownEntries(live: ApiObject, options: ApplyOptions): ManagedFields {
  const entries = live.metadata.managedFields ?? []
  if (entries.length > 0) return entries
  return managedFieldsAfterUpdate([], {}, live, {
    ...options,
    writer: { ...options.writer, manager: beforeFirstApply },
  })
}

export function rejectInvalid(config: JsonObject, structure: StructStructure): void {
  const errors = checkApplied(structure, config)
  if (errors.length === 0) return
  const { metadata } = config
  const { name = '', namespace = '' } = isJsonObject(metadata) ? metadata : {}
  throw new StatusError(
    500,
    '',
    `failed to create typed patch object (${String(namespace)}/${String(name)}; ${typeText(config)}): ${typeErrorText(errors)}`,
  )
}

/**
 * The merged object without fields that the manager applied last time, no longer applies, and no other manager owns.
 */
function pruned(
  merged: JsonObject,
  applied: FieldSet,
  last: ManagedFieldsEntry | undefined,
  others: ManagedFields,
  structure: StructStructure,
): JsonObject {
  if (last === undefined || isEmptySet(difference(fieldsOf(last), applied))) return merged
  const owned = others.reduce((fields, entry) => union(fields, fieldsOf(entry)), applied)
  const dropped = difference(withStructs(structure, fieldsOf(last)), withStructs(structure, owned))
  return removeFields(structure, merged, dropped)
}

/** The owners of fields that the apply would change, in the order of error messages. */
interface Conflict {
  readonly entry: ManagedFieldsEntry
  readonly fields: FieldSet
}

const conflictsOf = (others: ManagedFields, comparisons: Comparisons): Conflict[] =>
  others
    .map((entry) => ({
      entry,
      fields: intersection(fieldsOf(entry), comparisons.of(entry.apiVersion ?? '')?.changed ?? emptySet),
    }))
    .filter(({ fields }) => !isEmptySet(fields))
    .toSorted((a, b) => (identifierOf(a.entry) < identifierOf(b.entry) ? -1 : 1))

function rejectConflicts(conflicts: readonly Conflict[], live: ApiObject, options: ApplyOptions): void {
  if (conflicts.length === 0) return
  const allowed = options.writer.manager === kubectl ? clientSideFields(live, options.structure) : emptySet
  const left = conflicts
    .map(({ entry, fields }) => ({ entry, fields: difference(fields, allowed) }))
    .filter(({ fields }) => !isEmptySet(fields))
  if (left.length > 0) throw conflictError(left, options.shownVersion)
}

function conflictError(conflicts: readonly Conflict[], version: string | undefined): StatusError {
  const named = conflicts.map(({ entry, fields }) => ({ who: ownerText(entry, version), paths: pathTexts(fields) }))
  const causes = named.flatMap(({ who, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
  )
  const list =
    causes.length === 1
      ? `1 conflict: ${causes[0]?.message}: ${causes[0]?.field}`
      : `${causes.length} conflicts: ${named
          .map(({ who, paths }) => [`conflicts with ${who}:`, ...paths.map((path) => `- ${path}`)].join('\n'))
          .join('\n')}`
  return new StatusError(409, 'Conflict', `Apply failed with ${list}`, { causes })
}

function ownerText(entry: ManagedFieldsEntry, version = entry.apiVersion): string {
  const { manager, operation, subresource } = entry
  const suffix = subresource ? ` with subresource ${JSON.stringify(subresource)}` : ''
  return `${JSON.stringify(manager)}${suffix}${operation === 'Update' ? ` using ${version}` : ''}`
}
