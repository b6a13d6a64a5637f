// managedFields: who owns which fields of an object, kept at every write. A write takes what it changes from everybody
// else; what it removes nobody owns any longer.
import { rfc3339 } from '../../base/time/clock.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { RecentMap } from '../../base/collections/recent-map.ts'
import type { ManagedFieldsEntry } from '../../api/meta/v1/object-meta.ts'
import { compare, type Comparison } from '../../schema/apply/compare.ts'
import {
  difference,
  emptySet,
  isEmptySet,
  isFieldSet,
  union,
  withoutSubtrees,
  type FieldSet,
} from '../../schema/apply/field-set.ts'
import type { StructStructure } from '../../schema/apply/structure.ts'
import { equalExcept, equalValues } from '../../schema/json/json-value.ts'

export type ManagedFields = readonly ManagedFieldsEntry[]

/** Who writes, in which version, and through which door. */
export interface Writer {
  readonly manager: string
  readonly apiVersion: string
  readonly subresource: string
}

/** One version of a kind, in which an entry may speak of fields. */
export interface VersionView {
  readonly structure: StructStructure
  /** The object, given in the writer's version, in this one. */
  convert(object: object): object
}

export interface FieldTracking {
  readonly writer: Writer
  /** Undefined for a version that is not served any longer. */
  view(apiVersion: string): VersionView | undefined
  /** Subtrees that this door does not write, as paths of elements. */
  readonly ignored: readonly (readonly string[])[]
  readonly nowMs: number
}

export const fieldsOf = (entry: ManagedFieldsEntry): FieldSet => (entry.fieldsV1 ?? emptySet) as FieldSet

/** The entries after an ordinary write: create, update, or a patch that is no apply. */
export function managedFieldsAfterUpdate(
  entries: ManagedFields,
  old: object,
  next: object,
  tracking: FieldTracking,
): ManagedFields {
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

// Objects that are alike own the same sets, and most writes change the same fields: what followed from them last time
// follows again, and results stay the sets that are known.
const resultsMax = 1_000

interface Settled extends Comparison {
  readonly fields: FieldSet
}
const settled = new RecentMap<FieldSet, Settled>(resultsMax)

/** What a writer owns after a write: what it changed, and what it owned before and has not removed. */
function ownedAfter(before: FieldSet, comparison: Comparison, taken: FieldSet): FieldSet {
  const { changed, removed } = comparison
  const known = settled.get(before)
  if (known?.changed === changed && known.removed === removed) return known.fields
  const united = union(taken, difference(difference(before, changed), removed))
  const fields = equalValues(united, before) ? before : united
  settled.set(before, { changed, removed, fields })
  return fields
}

const ownableOf = new RecentMap<FieldSet, FieldSet>(resultsMax)

/** The set without what nobody owns. */
function ownable(changed: FieldSet): FieldSet {
  const known = ownableOf.get(changed)
  if (known !== undefined) return known
  const fields = difference(changed, neverOwned)
  ownableOf.set(changed, fields)
  return fields
}

interface Written {
  readonly ignored: FieldTracking['ignored']
  readonly fields: FieldSet
}
const writtenOf = new RecentMap<FieldSet, Written>(resultsMax)

/** The set without the subtrees that a door does not write. */
function writtenFields(set: FieldSet, ignored: FieldTracking['ignored']): FieldSet {
  if (ignored.length === 0 || isEmptySet(set)) return set
  const known = writtenOf.get(set)
  if (known?.ignored === ignored) return known.fields
  const fields = withoutSubtrees(set, ignored)
  writtenOf.set(set, { ignored, fields })
  return fields
}

const nothingChanged: Comparison = { changed: emptySet, removed: emptySet }

/** Names, times and versions belong to the server. */
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

/** The differences between two objects, in each version that an entry speaks. */
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
    // Most objects are written in one version all their life.
    if (apiVersion === this.#tracking.writer.apiVersion) return (this.#own ??= this.#compare(apiVersion))
    this.#known ??= new Map()
    return getOrInsert(this.#known, apiVersion, () => this.#compare(apiVersion))
  }

  #compare(apiVersion: string): Comparison | undefined {
    const view = this.#tracking.view(apiVersion)
    if (view === undefined) return undefined
    const { changed, removed } = compare(view.structure, view.convert(this.#old), view.convert(this.#next))
    const { ignored } = this.#tracking
    return { changed: writtenFields(changed, ignored), removed: writtenFields(removed, ignored) }
  }
}

/** Entries without what changed or is gone; those of versions that are not served any longer go as a whole. */
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
  // Who applies is the same in every version.
  (operation === 'Apply' || entry.apiVersion === writer.apiVersion)

export function newEntry(
  { manager, apiVersion, subresource }: Writer,
  operation: 'Apply' | 'Update',
  fieldsV1: FieldSet,
  nowMs: number | undefined,
): ManagedFieldsEntry {
  const fieldsType = 'FieldsV1'
  const entry: ManagedFieldsEntry =
    nowMs === undefined
      ? { manager, operation, apiVersion, fieldsType, fieldsV1 }
      : { manager, operation, apiVersion, time: rfc3339(nowMs), fieldsType, fieldsV1 }
  return subresource === '' ? entry : { ...entry, subresource }
}

/** The entries in upstream's order, not more of them than are kept. */
export const sortedAndCapped = (entries: ManagedFields): ManagedFields =>
  entries.length < 2 ? entries : capped(entries).toSorted(compareEntries)

const timeOf = ({ time }: ManagedFieldsEntry): number => (time === undefined ? 0 : Math.floor(Date.parse(time) / 1000))

/** As this server writes times, down to the second: their texts have the order of the times. */
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

/** As upstream: of more managers that update, the oldest are counted as one. */
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

/** What tells managers apart, as text: errors are grouped and ordered by it. */
export const identifierOf = ({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string =>
  JSON.stringify({
    manager,
    operation,
    ...(operation === 'Apply' ? {} : { apiVersion }),
    ...(subresource ? { subresource } : {}),
  })

/**
 * The entries that a write starts from: those that were sent where they are sound, else the live ones, so that a client
 * that does not know them cannot lose them. One empty entry says that they are to go.
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

/** Whether nothing but times differs. */
export const equalExceptTimes = (a: ManagedFields, b: ManagedFields): boolean =>
  a === b || (a.length === b.length && a.every((entry, index) => isSameButTime(entry, b[index])))

const isSameButTime = (a: ManagedFieldsEntry, b: ManagedFieldsEntry | undefined): boolean =>
  a === b || (b !== undefined && equalExcept(a, b, 'time'))
