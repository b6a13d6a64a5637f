// Version: the whole content at one revision, and what changed to get there. successor() is how one follows another,
// for a commit and for a change read back from disk alike.
import { OrderedMap } from '../base/ordered-map.ts'
import { LeasedKeys } from './leased-keys.ts'
import type { KeyValue, Operation, StoreEvent } from './store.ts'

export interface Version {
  readonly revision: number
  /** When it was made, for a history that is kept for a time. */
  readonly atMs: number
  readonly state: OrderedMap<KeyValue>
  readonly leased: LeasedKeys
  readonly events: readonly StoreEvent[]
  /** Bytes of the keys and values that the events brought, for a history that is kept up to a size. */
  readonly bytes: number
}

/** Revision 1 is the empty store, as in etcd: the first write makes revision 2. */
export const emptyVersion: Version = {
  revision: 1,
  atMs: 0,
  state: OrderedMap.empty(),
  leased: LeasedKeys.none,
  events: [],
  bytes: 0,
}

/** The next version; the same one when nothing changes. */
export function successor(before: Version, operations: readonly Operation[], atMs: number): Version {
  let { state, leased } = before
  const revision = before.revision + 1
  const events: StoreEvent[] = []
  let bytes = 0
  for (const operation of operations) {
    const { key } = operation
    const previous = state.get(key)
    if (operation.kind === 'put') {
      const createRevision = previous?.createRevision ?? revision
      const item: KeyValue = { key, value: operation.value, createRevision, modRevision: revision }
      state = state.set(key, item)
      leased = leased.with(key, operation.lease)
      events.push({ kind: 'put', revision, item, previous })
      bytes += key.length + operation.value.length
    } else if (previous !== undefined) {
      state = state.delete(key)
      leased = leased.with(key, undefined)
      events.push({ kind: 'delete', revision, key, previous })
      bytes += key.length
    }
  }
  return events.length === 0 ? before : { revision, atMs, state, leased, events, bytes }
}

export const keyOf = (event: StoreEvent): string => (event.kind === 'put' ? event.item.key : event.key)
