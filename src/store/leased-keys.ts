// LeasedKeys: which key hangs on which lease, as a persistent value: a version of the store carries its own, so that
// taking a version back takes back its leases too.
import { OrderedMap, prefixEnd } from '../base/ordered-map.ts'
import type { LeaseId } from './store.ts'

export class LeasedKeys {
  readonly #leaseOf: OrderedMap<LeaseId>
  /** `<lease>/<key>` → key: the keys of one lease are a range. */
  readonly #byLease: OrderedMap<string>

  private constructor(leaseOf: OrderedMap<LeaseId>, byLease: OrderedMap<string>) {
    this.#leaseOf = leaseOf
    this.#byLease = byLease
  }

  static readonly none = new LeasedKeys(OrderedMap.empty(), OrderedMap.empty())

  leaseOf(key: string): LeaseId | undefined {
    return this.#leaseOf.get(key)
  }

  /** The key on this lease and on no other; on none when left out. */
  with(key: string, lease: LeaseId | undefined): LeasedKeys {
    const before = this.#leaseOf.get(key)
    if (before === lease) return this
    const freed = before === undefined ? this.#byLease : this.#byLease.delete(`${before}/${key}`)
    return lease === undefined
      ? new LeasedKeys(this.#leaseOf.delete(key), freed)
      : new LeasedKeys(this.#leaseOf.set(key, lease), freed.set(`${lease}/${key}`, key))
  }

  keysOf(lease: LeaseId): string[] {
    const prefix = `${lease}/`
    return Array.from(this.#byLease.range(prefix, prefixEnd(prefix)), ([, key]) => key)
  }
}
