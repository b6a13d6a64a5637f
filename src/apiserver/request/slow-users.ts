// SlowUsers: users whose last requests took much CPU time of the event loop. It is not measured in time that has passed, which
// is long for all users of a busy machine.
import { RecentMap } from '../../base/collections/recent-map.ts'
import type { Clock } from '../../base/time/clock.ts'

/** A step that takes less CPU time does not count. */
export const slowStepMs = 50
/** Single slow steps are more often a garbage collection than the request's own work. */
export const slowStepsMin = 4
/** How long a slow step counts. */
export const slowForMs = 10_000
const usersMax = 1_000

export class SlowUsers {
  readonly #clock: Clock
  readonly #users = new RecentMap<string, { readonly steps: number; readonly lastMs: number }>(usersMax)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  stepDone(user: string, cpuMs: number): void {
    if (cpuMs < slowStepMs) return
    const nowMs = this.#clock.monotonicMs()
    const before = this.#users.get(user)
    const steps = before !== undefined && nowMs < before.lastMs + slowForMs ? before.steps + 1 : 1
    this.#users.set(user, { steps, lastMs: nowMs })
  }

  has(user: string): boolean {
    const slow = this.#users.get(user)
    return slow !== undefined && slow.steps >= slowStepsMin && this.#clock.monotonicMs() < slow.lastMs + slowForMs
  }
}
