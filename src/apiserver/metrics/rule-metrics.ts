// RuleMetrics: how long the rules of custom resources take, under upstream's names.
import type { RuleMeasures } from '../../api/apiextensions/rules/rule-measures.ts'
import type { HistogramSeries, Metrics } from '../../base/observability/metrics.ts'
import type { Clock } from '../../base/time/clock.ts'

const secondsBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export class RuleMetrics {
  readonly #compilations: HistogramSeries
  readonly #evaluations: HistogramSeries

  constructor(metrics: Metrics) {
    const seriesOf = (name: string, help: string) => metrics.histogram(name, help, secondsBounds).with({})
    this.#compilations = seriesOf(
      'apiserver_cel_compilation_duration_seconds',
      '[BETA] CEL compilation time in seconds.',
    )
    this.#evaluations = seriesOf('apiserver_cel_evaluation_duration_seconds', '[BETA] CEL evaluation time in seconds.')
  }

  measures(clock: Clock): RuleMeasures {
    return {
      now: () => clock.monotonicMs(),
      compiled: (ms) => this.#compilations.observe(ms / 1000),
      evaluated: (ms) => this.#evaluations.observe(ms / 1000),
    }
  }
}
