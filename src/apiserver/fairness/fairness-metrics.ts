// FairnessMetrics: the metrics of priority and fairness, under upstream's names.
import type { Metrics } from '../../base/observability/metrics.ts'

const secondsBounds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]
const seatsBounds = [1, 2, 4, 8, 16, 32, 64, 100]
const flowLabels = ['priority_level', 'flow_schema']

/** The series of one FlowSchema, so that requests do not look them up. */
export type FlowMetrics = ReturnType<FairnessMetrics['of']>

export class FairnessMetrics {
  readonly rejected
  readonly #dispatched
  readonly #executing
  readonly #seats
  readonly #waiting
  readonly #waitSeconds
  readonly #executionSeconds
  readonly #width
  readonly #limits

  constructor(metrics: Metrics) {
    const about = (name: string) => `apiserver_flowcontrol_${name}`
    this.#dispatched = metrics.counter(
      about('dispatched_requests_total'),
      '[BETA] Number of requests executed by API Priority and Fairness.',
      flowLabels,
    )
    this.rejected = metrics.counter(
      about('rejected_requests_total'),
      '[BETA] Number of requests rejected by API Priority and Fairness.',
      [...flowLabels, 'reason'],
    )
    const gauge = (name: string, help: string, labels = flowLabels) => metrics.gauge(about(name), help, labels)
    this.#executing = gauge('current_executing_requests', '[BETA] Number of requests that are executed now.')
    this.#seats = gauge('current_executing_seats', '[BETA] Seats that requests occupy now.')
    this.#waiting = gauge('current_inqueue_requests', '[BETA] Number of requests that wait in queues now.')
    const histogram = (name: string, help: string, bounds: readonly number[], more: readonly string[] = []) =>
      metrics.histogram(about(name), help, bounds, [...flowLabels, ...more])
    this.#waitSeconds = histogram(
      'request_wait_duration_seconds',
      '[BETA] Length of time a request spent waiting in its queue.',
      secondsBounds,
      ['execute'],
    )
    this.#executionSeconds = histogram(
      'request_execution_seconds',
      '[ALPHA] Duration of a request in its seat, by whether it is a watch.',
      secondsBounds,
      ['type'],
    )
    this.#width = histogram('work_estimated_seats', '[ALPHA] Seats that a request was estimated to need.', seatsBounds)
    const limit = (name: string, help: string) => gauge(name, help, ['priority_level'])
    this.#limits = {
      nominal: limit(
        'nominal_limit_seats',
        '[BETA] Nominal number of execution seats configured for each priority level.',
      ),
      current: limit('current_limit_seats', '[ALPHA] Seats that a priority level has now, before what it borrows.'),
      lower: limit('lower_limit_seats', '[ALPHA] Seats that a priority level never lends.'),
      upper: limit('upper_limit_seats', '[ALPHA] Seats that a priority level may have with what it borrows.'),
    }
  }

  of(priority_level: string, flow_schema: string) {
    const labels = { priority_level, flow_schema }
    return {
      dispatched: this.#dispatched.with(labels),
      executing: this.#executing.with(labels),
      seats: this.#seats.with(labels),
      waiting: this.#waiting.with(labels),
      waited: this.#waitSeconds.with({ ...labels, execute: 'true' }),
      waitedInVain: this.#waitSeconds.with({ ...labels, execute: 'false' }),
      executed: this.#executionSeconds.with({ ...labels, type: 'regular' }),
      watched: this.#executionSeconds.with({ ...labels, type: 'watch' }),
      width: this.#width.with(labels),
    }
  }

  setLimits(level: string, nominal: number, lower: number, upper: number): void {
    const labels = { priority_level: level }
    this.#limits.nominal.set(labels, nominal)
    this.#limits.current.set(labels, nominal)
    this.#limits.lower.set(labels, lower)
    this.#limits.upper.set(labels, upper)
  }
}
