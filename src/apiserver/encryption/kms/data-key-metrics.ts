// DataKeyMetrics: how data encryption keys are generated, under upstream's names.
import type { Clock } from '../../../base/time/clock.ts'
import type { Metrics } from '../../../base/observability/metrics.ts'

/** 5 µs, doubled 13 times. */
const secondsBounds = Array.from({ length: 14 }, (_, index) => (5 * 2 ** index) / 1e6)

export class DataKeyMetrics {
  readonly #clock: Clock
  readonly #seconds
  readonly #failures

  constructor(metrics: Metrics, clock: Clock) {
    this.#clock = clock
    this.#seconds = metrics
      .histogram(
        'apiserver_storage_data_key_generation_duration_seconds',
        '[ALPHA] Latencies in seconds of data encryption key(DEK) generation operations.',
        secondsBounds,
      )
      .with({})
    this.#failures = metrics.counter(
      'apiserver_storage_data_key_generation_failures_total',
      '[ALPHA] Total number of failed data encryption key(DEK) generation operations.',
    )
  }

  /** Calls the function, which generates a key. As upstream, only the duration of a success is observed. */
  measured<T>(generate: () => T): T {
    const startMs = this.#clock.monotonicMs()
    try {
      const key = generate()
      this.#seconds.observe((this.#clock.monotonicMs() - startMs) / 1000)
      return key
    } catch (error) {
      this.#failures.add({})
      throw error
    }
  }
}
