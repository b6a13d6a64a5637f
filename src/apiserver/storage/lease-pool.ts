// LeasePool: objects with the same time to live share a lease for a minute, so ten thousand events do not need ten
// thousand timers in the store.
import type { Clock } from '../../base/time/clock.ts'
import type { LeaseId, Store } from '../../store/store.ts'

const shareMs = 60_000
const neverAborted = new AbortController().signal

export class LeasePool {
  readonly #store: Store
  readonly #clock: Clock
  readonly #leases = new Map<number, { readonly lease: Promise<LeaseId>; readonly untilMs: number; objects: number }>()
  readonly #filled: (objects: number) => void

  /** `filled` is called with the number of objects of a lease that gets no more. */
  constructor(store: Store, clock: Clock, filled: (objects: number) => void) {
    this.#store = store
    this.#clock = clock
    this.#filled = filled
  }

  leaseFor(ttlMs: number): Promise<LeaseId> {
    const nowMs = this.#clock.monotonicMs()
    const shared = this.#leases.get(ttlMs)
    if (shared !== undefined && shared.untilMs > nowMs) {
      shared.objects++
      return shared.lease
    }
    if (shared !== undefined) this.#filled(shared.objects)
    // The lease outlives the last object that is added to it. It is not bound to the signal of the first request,
    // because others depend on it.
    const lease = this.#store.grantLease(ttlMs + shareMs, neverAborted)
    this.#leases.set(ttlMs, { lease, untilMs: nowMs + shareMs, objects: 1 })
    lease.catch(() => this.#leases.delete(ttlMs))
    return lease
  }
}
