// AdmissionMetrics: how long admission and each of its plugins take, under upstream's names, and what plugins measure.
import type { Histogram, HistogramSeries, Metrics } from '../../base/observability/metrics.ts'
import { PodSecurityMetrics } from './pod-security-metrics.ts'
import { PolicyMetrics } from './policy-metrics.ts'

const secondsBounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5]

export type AdmissionStep = 'admit' | 'validate'

/** Records one duration. */
export type AdmissionTimer = (isRejected: boolean, seconds: number) => void

export class AdmissionMetrics {
  readonly #plugins: Histogram
  readonly #steps: Histogram

  readonly podSecurity: PodSecurityMetrics
  readonly policies: PolicyMetrics

  constructor(metrics: Metrics) {
    this.podSecurity = new PodSecurityMetrics(metrics)
    this.policies = new PolicyMetrics(metrics)
    const labels = ['operation', 'rejected', 'type']
    this.#plugins = metrics.histogram(
      'apiserver_admission_controller_admission_duration_seconds',
      '[STABLE] Admission controller latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).',
      secondsBounds,
      ['name', ...labels],
    )
    this.#steps = metrics.histogram(
      'apiserver_admission_step_admission_duration_seconds',
      '[STABLE] Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step type (validate or admit).',
      secondsBounds,
      labels,
    )
  }

  pluginTimer(name: string, operation: string, type: AdmissionStep): AdmissionTimer {
    return timerOf((rejected) => this.#plugins.with({ name, operation: operation.toUpperCase(), rejected, type }))
  }

  stepTimer(operation: string, type: AdmissionStep): AdmissionTimer {
    return timerOf((rejected) => this.#steps.with({ operation: operation.toUpperCase(), rejected, type }))
  }
}

/** Series are created with their first observation. */
function timerOf(seriesOf: (rejected: 'true' | 'false') => HistogramSeries): AdmissionTimer {
  let [accepted, rejected]: (HistogramSeries | undefined)[] = []
  return (isRejected, seconds) =>
    (isRejected ? (rejected ??= seriesOf('true')) : (accepted ??= seriesOf('false'))).observe(seconds)
}
