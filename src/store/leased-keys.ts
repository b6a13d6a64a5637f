// LeasedKeys: where to look for the keys of a lease. An item says itself on which lease it hangs, so that taking a version
// back takes back its leases too; here stand all keys that were ever put on a lease, whatever has become of them.
import { getOrInsert } from '../base/collections/get-or-insert.ts'
import type { OrderedMap } from '../base/collections/ordered-map.ts'
import type { KeyValue, LeaseId } from './store.ts'

export class LeasedKeys {
  readonly #keys = new Map<LeaseId, Set<string>>()

  add(key: string, lease: LeaseId): void {
    getOrInsert(this.#keys, lease, newKeys).add(key)
  }

  /** Those that hang on the lease in this state. */
  keysOf(lease: LeaseId, state: OrderedMap<KeyValue>): string[] {
    return Array.from(this.#keys.get(lease) ?? []).filter((key) => state.get(key)?.lease === lease)
  }

  /** The lease has ended. */
  remove(lease: LeaseId): void {
    this.#keys.delete(lease)
  }
}

const newKeys = (): Set<string> => new Set()
