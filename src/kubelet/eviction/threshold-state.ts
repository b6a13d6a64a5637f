// ThresholdState: which thresholds are met, since when, and which node conditions result. It performs no I/O; the
// eviction manager acts.
import { conditionOf, type Observations, type PressureCondition } from './eviction-signals.ts'
import { amountOf, type Threshold } from './thresholds.ts'

export class ThresholdState {
  readonly #thresholds: readonly Threshold[]
  readonly #transitionMs: number
  readonly #metSince = new Map<Threshold, number>()
  readonly #lastMet = new Map<PressureCondition, number>()

  constructor(thresholds: readonly Threshold[], transitionMs: number) {
    this.#thresholds = thresholds
    this.#transitionMs = transitionMs
  }

  /** Takes in an observation; returns the thresholds that require an eviction now, memory first. */
  update(observations: Observations, nowMs: number): readonly Threshold[] {
    for (const threshold of this.#thresholds) {
      const isMet = this.#isMet(threshold, observations)
      if (!isMet) this.#metSince.delete(threshold)
      else {
        if (!this.#metSince.has(threshold)) this.#metSince.set(threshold, nowMs)
        this.#lastMet.set(conditionOf(threshold.signal), nowMs)
      }
    }
    const due = [...this.#metSince].filter(([{ graceMs }, sinceMs]) => nowMs - sinceMs >= graceMs)
    return due
      .map(([threshold]) => threshold)
      .toSorted((a, b) => Number(b.signal === 'memory.available') - Number(a.signal === 'memory.available'))
  }

  /** A threshold that is met stays met until its minimum reclaim is available in addition. */
  #isMet(threshold: Threshold, observations: Observations): boolean {
    const observed = observations.get(threshold.signal)
    // File systems without an inode count (capacity 0) never meet a threshold.
    if (observed === undefined || observed.capacity === 0) return false
    const { below, reclaim } = threshold
    const more = this.#metSince.has(threshold) && reclaim !== undefined ? amountOf(reclaim, observed.capacity) : 0
    return observed.available < amountOf(below, observed.capacity) + more
  }

  /** A condition is kept for the transition period after its last threshold was met, so that it does not flap. */
  conditions(nowMs: number): readonly PressureCondition[] {
    return [...this.#lastMet]
      .filter(([condition, lastMs]) => this.#isMetNow(condition) || nowMs - lastMs < this.#transitionMs)
      .map(([condition]) => condition)
      .toSorted()
  }

  #isMetNow(condition: PressureCondition): boolean {
    return [...this.#metSince.keys()].some(({ signal }) => conditionOf(signal) === condition)
  }
}
