// Version: the whole content at one revision, with the events that led to it. successor() derives the next version, for
// commits and for changes loaded from disk.
import { OrderedMap } from '../base/collections/ordered-map.ts'
import type { KeyValue, LeaseId, Operation, StoreEvent, LazyValue } from './store.ts'

/** The events of one revision. */
export interface RevisionEvents {
  readonly revision: number
  /** When it was written, for histories that are bounded by time. */
  readonly atMs: number
  readonly events: readonly StoreEvent[]
}

export interface Version extends RevisionEvents {
  readonly state: OrderedMap<KeyValue>
}

/** The approximate size of the keys and values of these events, for bounds; lazy values count by characters. */
export const sizeOfEvents = ({ events }: RevisionEvents): number =>
  events.reduce((sum, event) => sum + keyOf(event).length + (event.kind === 'put' ? sizeOf(event.item) : 0), 0)

const sizeOf = (item: KeyValue): number => (item.lazyValue === undefined ? item.value : item.lazyValue.text).length

/** Revision 1 is the empty store, as in etcd: the first write creates revision 2. */
export const emptyVersion: Version = {
  revision: 1,
  atMs: 0,
  state: OrderedMap.empty(),
  events: [],
}

/** The next version, or the same one when nothing changes. */
export function successor(before: Version, operations: readonly Operation[], atMs: number): Version {
  let { state } = before
  const revision = before.revision + 1
  const events: StoreEvent[] = []
  for (const operation of operations) {
    const { key } = operation
    const previous = state.get(key)
    if (operation.kind === 'put') {
      const createRevision = previous?.createRevision ?? revision
      const version = (previous?.version ?? 0) + 1
      const item = keyValueOf(key, operation.value, createRevision, revision, version, operation.lease)
      state = state.set(key, item)
      events.push({ kind: 'put', revision, item, previous })
    } else if (previous !== undefined) {
      state = state.delete(key)
      events.push({ kind: 'delete', revision, key, previous })
    }
  }
  // slice() drops the spare capacity of an array that was pushed to: thousands of these are retained, most with one
  // event.
  return events.length === 0 ? before : { revision, atMs, state, events: events.slice() }
}

const keyValueOf = (
  key: string,
  value: Uint8Array | LazyValue,
  createRevision: number,
  modRevision: number,
  version: number,
  lease: LeaseId | undefined,
): KeyValue =>
  value instanceof Uint8Array
    ? { key, value, createRevision, modRevision, version, lease }
    : new LazyKeyValue(key, value, createRevision, modRevision, version, lease)

class LazyKeyValue implements KeyValue {
  readonly key: string
  readonly lazyValue: LazyValue
  readonly createRevision: number
  readonly modRevision: number
  readonly version: number
  readonly lease: LeaseId | undefined

  constructor(
    key: string,
    lazyValue: LazyValue,
    createRevision: number,
    modRevision: number,
    version: number,
    lease: LeaseId | undefined,
  ) {
    this.key = key
    this.lazyValue = lazyValue
    this.createRevision = createRevision
    this.modRevision = modRevision
    this.version = version
    this.lease = lease
  }

  get value(): Uint8Array {
    return this.lazyValue.bytes
  }
}

export const keyOf = (event: StoreEvent): string => (event.kind === 'put' ? event.item.key : event.key)
