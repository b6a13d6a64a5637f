// LeaseTable: the active leases, each with its expiry timer. LeasedKeys knows their keys.
import type { Clock, Timer } from '../base/time/clock.ts'
import type { LeaseId } from './store.ts'

export interface Lease {
  readonly id: LeaseId
  /** The time to live from the grant, and from each renewal. */
  readonly ttlMs: number
  /** Wall time, which stays valid after a restart. */
  readonly expiresMs: number
}

export class LeaseTable {
  readonly #clock: Clock
  readonly #onExpiry: (lease: Lease) => void
  readonly #leases = new Map<LeaseId, { readonly lease: Lease; readonly timer: Timer }>()
  #last: number
  #closed = false

  constructor(clock: Clock, onExpiry: (lease: Lease) => void, last = 0) {
    this.#clock = clock
    this.#onExpiry = onExpiry
    this.#last = last
  }

  /** A lease with this id, or with a new one; it is active from start() on. */
  create(ttlMs: number, id: LeaseId = ++this.#last): Lease {
    return { id, ttlMs, expiresMs: this.#clock.nowMs() + ttlMs }
  }

  start(lease: Lease): void {
    if (this.#closed) return
    this.#leases.get(lease.id)?.timer.cancel()
    const timer = this.#clock.after(lease.expiresMs - this.#clock.nowMs(), () => this.#onExpiry(lease))
    this.#leases.set(lease.id, { lease, timer })
  }

  get(id: LeaseId): Lease | undefined {
    return this.#leases.get(id)?.lease
  }

  remove(id: LeaseId): void {
    this.#leases.get(id)?.timer.cancel()
    this.#leases.delete(id)
  }

  all(): Lease[] {
    return Array.from(this.#leases.values(), ({ lease }) => lease)
  }

  close(): void {
    this.#closed = true
    for (const { timer } of this.#leases.values()) timer.cancel()
    this.#leases.clear()
  }
}
