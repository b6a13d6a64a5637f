// PressureState: which thresholds are met, since when, and which conditions of the node follow from that. Pure but for what
// it remembers between two looks; the manager acts.
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

  /** Takes a look in; returns the thresholds that ask for something now, memory first. */
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

  /** Once met, a threshold stays so until as much more is free as it asks for. */
  #isMet(threshold: Threshold, observations: Observations): boolean {
    const observed = observations.get(threshold.signal)
    // A file system without a count of inodes has no lack of them.
    if (observed === undefined || observed.capacity === 0) return false
    const { below, reclaim } = threshold
    const more = this.#metSince.has(threshold) && reclaim !== undefined ? amountOf(reclaim, observed.capacity) : 0
    return observed.available < amountOf(below, observed.capacity) + more
  }

  /** A condition stays for a while after its cause is gone: whoever comes back at once would go again at once. */
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
