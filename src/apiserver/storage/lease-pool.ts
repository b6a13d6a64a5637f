// LeasePool: objects that live for the same time share a lease for a while, so that ten thousand events do not
// take ten thousand timers in the store.
import type { Clock } from '../../base/time/clock.ts'
import type { LeaseId, Store } from '../../store/store.ts'

const shareMs = 60_000
const neverAborted = new AbortController().signal

export class LeasePool {
  readonly #store: Store
  readonly #clock: Clock
  readonly #leases = new Map<number, { lease: Promise<LeaseId>; untilMs: number }>()

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  leaseFor(ttlMs: number): Promise<LeaseId> {
    const nowMs = this.#clock.monotonicMs()
    const shared = this.#leases.get(ttlMs)
    if (shared !== undefined && shared.untilMs > nowMs) return shared.lease
    // Everyone on the lease lives at least its time, the first a little longer.
    // Nor may the first to ask take the lease from the others by giving up.
    const lease = this.#store.grantLease(ttlMs + shareMs, neverAborted)
    this.#leases.set(ttlMs, { lease, untilMs: nowMs + shareMs })
    lease.catch(() => this.#leases.delete(ttlMs))
    return lease
  }
}
