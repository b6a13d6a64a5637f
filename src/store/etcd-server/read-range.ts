// Reads a range as etcd does: of a state, filtered, sorted, limited.
import type { StoreState } from '../local-store.ts'
import type { KeyValue } from '../store.ts'
import type { RangeRequest, RangeResponse, WireKeyValue } from './etcd-api.ts'
import { isEmptyRange, keyRange } from './key-range.ts'

export const toWire = (
  { key, value, createRevision, modRevision, version, lease }: KeyValue,
  keysOnly = false,
): WireKeyValue => ({
  key,
  createRevision,
  modRevision,
  version,
  lease,
  ...(keysOnly ? {} : { value }),
})

/** The response without its header. */
export function readRange({ state }: StoreState, request: RangeRequest): RangeResponse {
  const range = keyRange(request.key, request.rangeEnd)
  const { start, end } = range
  const count = isEmptyRange(range) ? 0 : state.count(start, end)
  if (request.countOnly || count === 0) return { count }
  const order = sortOrderOf(request)
  const filters = filtersOf(request)
  const isWhole = order !== undefined || filters.length > 0
  const limit = request.limit > 0 ? request.limit : Infinity
  const found: KeyValue[] = []
  for (const [, item] of state.range(start, end)) {
    if (!isWhole && found.length === limit) break
    if (filters.every((filter) => filter(item))) found.push(item)
  }
  const sorted = order === undefined ? found : found.toSorted(order)
  const items = sorted.slice(0, limit)
  return {
    kvs: items.map((item) => toWire(item, request.keysOnly)),
    count,
    more: isWhole ? sorted.length > limit : count > items.length,
  }
}

function filtersOf(request: RangeRequest): ((item: KeyValue) => boolean)[] {
  const { minModRevision, maxModRevision, minCreateRevision, maxCreateRevision } = request
  const filters: ((item: KeyValue) => boolean)[] = []
  if (minModRevision > 0) filters.push(({ modRevision }) => modRevision >= minModRevision)
  if (maxModRevision > 0) filters.push(({ modRevision }) => modRevision <= maxModRevision)
  if (minCreateRevision > 0) filters.push(({ createRevision }) => createRevision >= minCreateRevision)
  if (maxCreateRevision > 0) filters.push(({ createRevision }) => createRevision <= maxCreateRevision)
  return filters
}

type Order = (a: KeyValue, b: KeyValue) => number

/** Undefined: by key, ascending, which is how the state is ordered. */
function sortOrderOf(request: RangeRequest): Order | undefined {
  const { sortOrder, sortTarget } = request
  const isDescending = sortOrder === 'DESCEND'
  if (sortTarget === 'KEY' && !isDescending) return undefined
  const compare = comparisons[sortTarget]
  return isDescending ? (a, b) => compare(b, a) : compare
}

const comparisons: Readonly<Record<RangeRequest['sortTarget'], Order>> = {
  KEY: (a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0),
  VERSION: (a, b) => a.version - b.version,
  CREATE: (a, b) => a.createRevision - b.createRevision,
  MOD: (a, b) => a.modRevision - b.modRevision,
  VALUE: (a, b) => compareBytes(a.value, b.value),
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const difference = (a[at] as number) - (b[at] as number)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}
