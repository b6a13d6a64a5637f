// LeasedKeys: an index from leases to keys. A key-value pair names its lease, so that discarding a version also undoes
// its leases. The index may also hold keys that do not have the lease any more, and is filtered by the current state.
import { getOrInsert } from '../base/collections/get-or-insert.ts'
import type { OrderedMap } from '../base/collections/ordered-map.ts'
import type { KeyValue, LeaseId } from './store.ts'

export class LeasedKeys {
  readonly #keys = new Map<LeaseId, Set<string>>()

  add(key: string, lease: LeaseId): void {
    getOrInsert(this.#keys, lease, newKeys).add(key)
  }

  /** The number of keys in the index. */
  get size(): number {
    return this.#keys.values().reduce((sum, keys) => sum + keys.size, 0)
  }

  /** The key does not have the lease any more. A lease that is renewed for long may have any number of keys one after the other. */
  removeKey(key: string, lease: LeaseId): void {
    this.#keys.get(lease)?.delete(key)
  }

  /** The keys that have the lease in this state. */
  keysOf(lease: LeaseId, state: OrderedMap<KeyValue>): string[] {
    return Array.from(this.#keys.get(lease) ?? []).filter((key) => state.get(key)?.lease === lease)
  }

  /** Called when the lease has ended. */
  remove(lease: LeaseId): void {
    this.#keys.delete(lease)
  }
}

const newKeys = (): Set<string> => new Set()
