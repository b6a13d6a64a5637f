// managedFields: which manager owns which fields of an object. A write takes the fields that it changes from all other
// managers; fields that it removes have no owner.
import { rfc3339 } from '../../base/time/clock.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { RecentMap } from '../../base/collections/recent-map.ts'
import type { ManagedFieldsEntry } from '../../api/meta/v1/object-meta.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { checkTyped, typeErrorText } from '../../schema/apply/check-applied.ts'
import { compare, type Comparison } from '../../schema/apply/compare.ts'
import {
  difference,
  emptySet,
  isEmptySet,
  isWithin,
  isFieldSet,
  union,
  withoutSubtrees,
  type FieldSet,
} from '../../schema/apply/field-set.ts'
import type { StructStructure } from '../../schema/apply/structure.ts'
import { equalExcept, equalValues, type JsonObject } from '../../schema/json/json-value.ts'

export type ManagedFields = readonly ManagedFieldsEntry[]

/** The writer of a request. */
export interface Writer {
  readonly manager: string
  readonly apiVersion: string
  readonly subresource: string
}

/** One version of a kind, in which the field sets of entries are expressed. */
export interface VersionView {
  readonly structure: StructStructure
  /** Converts an object from the writer's version to this one. */
  convert(object: object): object
  /** Objects of custom kinds may not conform to the structure: their values may be invalid, or of another version. */
  readonly mayBeUntyped?: boolean
}

/** An object does not conform to a version of its kind, so its fields cannot be compared. */
export class UntypedObjectError extends StatusError {
  constructor(errors: readonly string[]) {
    super(500, '', typeErrorText(errors))
  }
}

export interface FieldTracking {
  readonly writer: Writer
  /** Undefined for a version that is not served any more. */
  view(apiVersion: string): VersionView | undefined
  /** Subtrees that the subresource does not write, as paths of elements. */
  readonly ignored: readonly (readonly string[])[]
  readonly nowMs: number
}

export const fieldsOf = (entry: ManagedFieldsEntry): FieldSet => (entry.fieldsV1 ?? emptySet) as FieldSet

/**
 * The entries after a create, an update, or a patch other than apply. As upstream: where fields cannot be compared, none has an
 * owner.
 */
export function managedFieldsAfterUpdate(
  entries: ManagedFields,
  old: object,
  next: object,
  tracking: FieldTracking,
): ManagedFields {
  try {
    return entriesAfterUpdate(entries, old, next, tracking)
  } catch (error) {
    if (error instanceof UntypedObjectError) return []
    throw error
  }
}

function entriesAfterUpdate(entries: ManagedFields, old: object, next: object, tracking: FieldTracking): ManagedFields {
  const { writer, nowMs } = tracking
  const comparisons = new Comparisons(old, next, tracking)
  const comparison = comparisons.of(writer.apiVersion) ?? nothingChanged
  const taken = ownable(comparison.changed)
  if (entries.length === 0) return isEmptySet(taken) ? [] : [newEntry(writer, 'Update', taken, nowMs)]
  if (isEmptySet(taken)) return sortedAndCapped(releaseFields(entries, comparisons))
  const isOwn = (entry: ManagedFieldsEntry) => isEntryOf(entry, writer, 'Update')
  const own = entries.find(isOwn)
  const others = own === undefined ? entries : entries.filter((entry) => !isOwn(entry))
  const fields = own === undefined ? taken : ownedAfter(fieldsOf(own), comparison, taken)
  const kept = releaseFields(others, comparisons)
  kept.push(newEntry(writer, 'Update', fields, nowMs))
  return sortedAndCapped(kept)
}

// Similar objects have the same field sets, and most writes change the same fields. Results are cached by set identity,
// so equal results are the same set. Long sets are not cached: those of a thousand wide objects would take gigabytes.
const resultsMax = 1_000
const cachedCharactersMax = 16_384

const isCached = (set: FieldSet): boolean => isWithin(set, cachedCharactersMax)

interface Settled extends Comparison {
  readonly fields: FieldSet
}
const settled = new RecentMap<FieldSet, Settled>(resultsMax)

/** The fields of a writer after a write: those that it changed, and those that it owned and did not remove. */
function ownedAfter(before: FieldSet, comparison: Comparison, taken: FieldSet): FieldSet {
  const { changed, removed } = comparison
  const known = settled.get(before)
  if (known?.changed === changed && known.removed === removed) return known.fields
  const united = union(taken, difference(difference(before, changed), removed))
  const fields = equalValues(united, before) ? before : united
  if (isCached(before) && isCached(changed) && isCached(removed)) settled.set(before, { changed, removed, fields })
  return fields
}

const ownableOf = new RecentMap<FieldSet, FieldSet>(resultsMax)

/** The set without fields that are never owned. */
function ownable(changed: FieldSet): FieldSet {
  const known = ownableOf.get(changed)
  if (known !== undefined) return known
  const fields = difference(changed, neverOwned)
  if (isCached(changed)) ownableOf.set(changed, fields)
  return fields
}

interface Written {
  readonly ignored: FieldTracking['ignored']
  readonly fields: FieldSet
}
const writtenOf = new RecentMap<FieldSet, Written>(resultsMax)

/** The set without the subtrees that the subresource does not write. */
function writtenFields(set: FieldSet, ignored: FieldTracking['ignored']): FieldSet {
  if (ignored.length === 0 || isEmptySet(set)) return set
  const known = writtenOf.get(set)
  if (known?.ignored === ignored) return known.fields
  const fields = withoutSubtrees(set, ignored)
  if (isCached(set)) writtenOf.set(set, { ignored, fields })
  return fields
}

const nothingChanged: Comparison = { changed: emptySet, removed: emptySet }

/** Fields that only the server sets. */
export const neverOwned: FieldSet = {
  'f:apiVersion': {},
  'f:kind': {},
  'f:metadata': {
    '.': {},
    'f:clusterName': {},
    'f:creationTimestamp': {},
    'f:generation': {},
    'f:managedFields': {},
    'f:name': {},
    'f:namespace': {},
    'f:resourceVersion': {},
    'f:selfLink': {},
    'f:uid': {},
  },
}

/** The differences between two objects, in each version that entries use. */
export class Comparisons {
  readonly #old: object
  readonly #next: object
  readonly #tracking: FieldTracking
  #known: Map<string, Comparison | undefined> | undefined
  #own: Comparison | undefined

  constructor(old: object, next: object, tracking: FieldTracking) {
    this.#old = old
    this.#next = next
    this.#tracking = tracking
  }

  of(apiVersion: string): Comparison | undefined {
    // Most objects are written in one version only.
    if (apiVersion === this.#tracking.writer.apiVersion) return (this.#own ??= this.#compare(apiVersion))
    this.#known ??= new Map()
    return getOrInsert(this.#known, apiVersion, () => this.#compare(apiVersion))
  }

  #compare(apiVersion: string): Comparison | undefined {
    const view = this.#tracking.view(apiVersion)
    if (view === undefined) return undefined
    const old = view.convert(this.#old)
    const next = view.convert(this.#next)
    if (view.mayBeUntyped) for (const object of [old, next]) requireTyped(view.structure, object)
    const { changed, removed } = compare(view.structure, old, next)
    const { ignored } = this.#tracking
    return { changed: writtenFields(changed, ignored), removed: writtenFields(removed, ignored) }
  }
}

function requireTyped(structure: StructStructure, object: object): void {
  const errors = checkTyped(structure, object as JsonObject)
  if (errors.length > 0) throw new UntypedObjectError(errors)
}

/** The entries without changed and removed fields. Entries of versions that are not served any more are dropped. */
export function releaseFields(entries: ManagedFields, comparisons: Comparisons): ManagedFieldsEntry[] {
  const kept: ManagedFieldsEntry[] = []
  for (const entry of entries) {
    const comparison = comparisons.of(entry.apiVersion ?? '')
    if (comparison === undefined) continue
    const fields = fieldsOf(entry)
    const rest = difference(difference(fields, comparison.changed), comparison.removed)
    if (!isEmptySet(rest)) kept.push(rest === fields ? entry : { ...entry, fieldsV1: rest })
  }
  return kept
}

export const isEntryOf = (entry: ManagedFieldsEntry, writer: Writer, operation: 'Apply' | 'Update'): boolean =>
  entry.manager === writer.manager &&
  entry.operation === operation &&
  (entry.subresource ?? '') === writer.subresource &&
  // An applier is the same manager in every version.
  (operation === 'Apply' || entry.apiVersion === writer.apiVersion)

/** As upstream: what is written through a Scale has no time. */
const timelessSubresource = 'scale'

export function newEntry(
  { manager, apiVersion, subresource }: Writer,
  operation: 'Apply' | 'Update',
  fieldsV1: FieldSet,
  nowMs: number | undefined,
): ManagedFieldsEntry {
  const fieldsType = 'FieldsV1'
  const entry: ManagedFieldsEntry =
    nowMs === undefined || subresource === timelessSubresource
      ? { manager, operation, apiVersion, fieldsType, fieldsV1 }
      : { manager, operation, apiVersion, time: rfc3339(nowMs), fieldsType, fieldsV1 }
  return subresource === '' ? entry : { ...entry, subresource }
}

/**
 * The entries after the update of a Scale. As upstream: the writer owns the replicas only if they had an owner before, and if
 * they are not zero, which a Scale leaves out.
 */
export function ownersAfterScaling(
  before: ManagedFields,
  after: ManagedFields,
  writer: Writer,
  replicas: number,
): ManagedFields {
  const own = after.find((entry) => isEntryOf(entry, writer, 'Update'))
  if (own === undefined) return after
  const taken = fieldsOf(own)
  const hadOwner = before.some((entry) => difference(fieldsOf(entry), taken) !== fieldsOf(entry))
  return hadOwner && replicas > 0 ? after : after.filter((entry) => entry !== own)
}

/** The entries in upstream's order, within upstream's limit. */
export const sortedAndCapped = (entries: ManagedFields): ManagedFields =>
  entries.length < 2 ? entries : capped(entries).toSorted(compareEntries)

const timeOf = ({ time }: ManagedFieldsEntry): number => (time === undefined ? 0 : Math.floor(Date.parse(time) / 1000))

/** Times in the format of this server sort as text. */
const isPlainTime = (time: string | undefined): time is string => time?.length === 20 && time.endsWith('Z')

const compareTimes = (a: ManagedFieldsEntry, b: ManagedFieldsEntry): number =>
  isPlainTime(a.time) && isPlainTime(b.time) ? compareText(a.time, b.time) : timeOf(a) - timeOf(b)

const compareText = (a = '', b = ''): number => (a === b ? 0 : a < b ? -1 : 1)

const compareEntries = (a: ManagedFieldsEntry, b: ManagedFieldsEntry): number =>
  compareText(a.operation, b.operation) ||
  compareTimes(a, b) ||
  compareText(a.manager, b.manager) ||
  compareText(a.apiVersion, b.apiVersion) ||
  compareText(a.subresource, b.subresource)

/** As upstream: beyond this number of updating managers, the oldest entries are merged. */
const updateEntriesMax = 10
const ancientManager = 'ancient-changes'

function capped(entries: ManagedFields): ManagedFields {
  if (entries.length <= updateEntriesMax) return entries
  const updates = entries.filter(({ operation }) => operation === 'Update')
  let surplus = updates.length - updateEntriesMax
  if (surplus <= 0) return entries
  const firstOf = new Map<string, ManagedFieldsEntry>()
  const merged = new Map<string, ManagedFieldsEntry>()
  const gone = new Set<ManagedFieldsEntry>()
  const oldest = updates.toSorted((a, b) => timeOf(a) - timeOf(b) || compareText(identifierOf(a), identifierOf(b)))
  for (const entry of oldest) {
    if (surplus === 0) break
    const apiVersion = entry.apiVersion ?? ''
    const first = merged.get(apiVersion) ?? firstOf.get(apiVersion)
    if (first === undefined) {
      firstOf.set(apiVersion, entry)
      continue
    }
    const { subresource: _, ...plain } = entry
    merged.set(apiVersion, { ...plain, manager: ancientManager, fieldsV1: union(fieldsOf(first), fieldsOf(entry)) })
    gone.add(first).add(entry)
    surplus--
  }
  return [...entries.filter((entry) => !gone.has(entry)), ...merged.values()]
}

/** The identity of a manager as text. Errors are grouped and sorted by it. */
export const identifierOf = ({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string =>
  JSON.stringify({
    manager,
    operation,
    ...(operation === 'Apply' ? {} : { apiVersion }),
    ...(subresource ? { subresource } : {}),
  })

/**
 * The entries that a write starts from: those that were sent, where they are valid, else the live ones, so that a
 * client that does not know them cannot remove them. A single empty entry resets them.
 */
export function initialEntries(
  live: ManagedFields,
  sent: ManagedFields | undefined,
  subresource: string,
): ManagedFields {
  if (subresource !== '' || sent === undefined || sent.length === 0 || equalValues(sent, live)) return live
  if (sent.length === 1 && Object.keys(sent[0] ?? {}).length === 0) return []
  return sent.every(isValidEntry) ? sent : live
}

const isValidEntry = ({ operation, apiVersion, fieldsType, fieldsV1 }: ManagedFieldsEntry): boolean =>
  (operation === 'Apply' || operation === 'Update') &&
  apiVersion !== undefined &&
  fieldsType === 'FieldsV1' &&
  (fieldsV1 === undefined || isFieldSet(fieldsV1))

export const equalExceptTimes = (a: ManagedFields, b: ManagedFields): boolean =>
  a === b || (a.length === b.length && a.every((entry, index) => isSameButTime(entry, b[index])))

const isSameButTime = (a: ManagedFieldsEntry, b: ManagedFieldsEntry | undefined): boolean =>
  a === b || (b !== undefined && equalExcept(a, b, 'time'))
