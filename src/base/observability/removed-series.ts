// RemovedSeries: removes the series of subjects that no longer exist. Without it, each subject that ever existed would have
// series in every metric about such subjects.
import { RecentMap } from '../collections/recent-map.ts'
import type { Metrics } from './metrics.ts'

/** What ends after its subject was removed creates series again, so the last removed subjects are remembered. */
const rememberedMax = 1_000
/** Subjects that are removed between two passes over all series. */
const removedPerPass = 16

export class RemovedSeries {
  readonly #metrics: Metrics
  readonly #labels: readonly string[]
  readonly #removed = new RecentMap<string, true>(rememberedMax)
  #sincePass = 0

  /** `labels` are those whose values name a subject. */
  constructor(metrics: Metrics, labels: readonly string[]) {
    this.#metrics = metrics
    this.#labels = labels
  }

  added(...subject: readonly string[]): void {
    this.#removed.delete(keyOf(subject))
  }

  removed(...subject: readonly string[]): void {
    this.#removed.set(keyOf(subject), true)
    if (++this.#sincePass === removedPerPass) this.removeSeries()
  }

  /** Also before each scrape. */
  removeSeries(): void {
    this.#sincePass = 0
    this.#metrics.removeWhere(this.#labels, (values) => this.#removed.get(keyOf(values)) ?? false)
  }
}

const keyOf = (subject: readonly string[]): string => subject.join('\n')
