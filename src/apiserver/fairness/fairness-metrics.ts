// FairnessMetrics: the metrics of priority and fairness, under upstream's names.
import type { Metrics } from '../../base/observability/metrics.ts'

const secondsBounds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]
const seatsBounds = [1, 2, 4, 8, 16, 32, 64, 100]
const queueLengthBounds = [0, 10, 25, 50, 100, 250, 500, 1000]
const watchersBounds = [0, 1, 10, 100, 1000, 10_000]
const requestShareBounds = [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1]
const seatShareBounds = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1]
const kindShareBounds = [0, 0.001, 0.01, ...seatShareBounds.slice(1)]
const flowLabels = ['priority_level', 'flow_schema']

/** The series of one FlowSchema, so that requests do not look them up. */
export type FlowMetrics = ReturnType<FairnessMetrics['of']>

export class FairnessMetrics {
  readonly rejected
  readonly #dispatched
  readonly #executing
  readonly #seats
  readonly #waiting
  readonly #waitingSeats
  readonly #waitSeconds
  readonly #executionSeconds
  readonly #width
  readonly #queueLength
  readonly #watchers
  readonly #limits
  readonly #levelRequests
  readonly #levelSeats
  readonly #kindRequests
  readonly #kindWaiting
  #record: (() => void) | undefined

  constructor(metrics: Metrics) {
    const about = (name: string) => `apiserver_flowcontrol_${name}`
    this.#dispatched = metrics.counter(
      about('dispatched_requests_total'),
      '[BETA] Number of requests executed by API Priority and Fairness subsystem',
      flowLabels,
    )
    this.rejected = metrics.counter(
      about('rejected_requests_total'),
      '[BETA] Number of requests rejected by API Priority and Fairness subsystem',
      [...flowLabels, 'reason'],
    )
    const gauge = (name: string, help: string, labels = flowLabels) => metrics.gauge(about(name), help, labels)
    this.#executing = gauge(
      'current_executing_requests',
      '[BETA] Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution stage in the API Priority and Fairness subsystem',
    )
    this.#seats = gauge(
      'current_executing_seats',
      '[BETA] Concurrency (number of seats) occupied by the currently executing (initial stage for a WATCH, any stage otherwise) requests in the API Priority and Fairness subsystem',
    )
    this.#waiting = gauge(
      'current_inqueue_requests',
      '[BETA] Number of requests currently pending in queues of the API Priority and Fairness subsystem',
    )
    this.#waitingSeats = gauge(
      'current_inqueue_seats',
      '[ALPHA] Number of seats currently pending in queues of the API Priority and Fairness subsystem',
    )
    const histogram = (name: string, help: string, bounds: readonly number[], labels: readonly string[]) =>
      metrics.histogram(about(name), help, bounds, labels)
    this.#waitSeconds = histogram(
      'request_wait_duration_seconds',
      '[BETA] Length of time a request spent waiting in its queue',
      secondsBounds,
      [...flowLabels, 'execute'],
    )
    this.#executionSeconds = histogram(
      'request_execution_seconds',
      '[ALPHA] Duration of initial stage (for a WATCH) or any (for a non-WATCH) stage of request execution in the API Priority and Fairness subsystem',
      secondsBounds,
      [...flowLabels, 'type'],
    )
    this.#width = histogram(
      'work_estimated_seats',
      '[ALPHA] Number of estimated seats (maximum of initial and final seats) associated with requests in API Priority and Fairness',
      seatsBounds,
      flowLabels,
    )
    this.#queueLength = histogram(
      'request_queue_length_after_enqueue',
      '[ALPHA] Length of queue in the API Priority and Fairness subsystem, as seen by each request after it is enqueued',
      queueLengthBounds,
      flowLabels,
    )
    this.#watchers = histogram(
      'watch_count_samples',
      '[ALPHA] count of watchers for mutating requests in API Priority and Fairness',
      watchersBounds,
      flowLabels,
    )
    const limit = (name: string, help: string) => gauge(name, help, ['priority_level'])
    this.#limits = {
      nominal: limit(
        'nominal_limit_seats',
        '[BETA] Nominal number of execution seats configured for each priority level',
      ),
      current: limit(
        'current_limit_seats',
        '[ALPHA] current derived number of execution seats available to each priority level',
      ),
      lower: limit(
        'lower_limit_seats',
        '[ALPHA] Configured lower bound on number of execution seats available to each priority level',
      ),
      upper: limit(
        'upper_limit_seats',
        '[ALPHA] Configured upper bound on number of execution seats available to each priority level',
      ),
    }
    const experimental = 'EXPERIMENTAL: [ALPHA] Observations, at the end of every nanosecond, of'
    this.#levelRequests = histogram(
      'priority_level_request_utilization',
      `${experimental} number of requests (as a fraction of the relevant limit) waiting or in any stage of execution (but only initial stage for WATCHes)`,
      requestShareBounds,
      ['phase', 'priority_level'],
    )
    this.#levelSeats = histogram(
      'priority_level_seat_utilization',
      `${experimental} utilization of seats for any stage of execution (but only initial stage for WATCHes)`,
      seatShareBounds,
      ['phase', 'priority_level'],
    )
    this.#kindRequests = histogram(
      'read_vs_write_current_requests',
      `${experimental} the number of requests (as a fraction of the relevant limit) waiting or in regular stage of execution`,
      kindShareBounds,
      ['phase', 'request_kind'],
    )
    this.#kindWaiting = metrics.gauge(
      'apiserver_current_inqueue_requests',
      '[ALPHA] Maximal number of queued requests in this apiserver per request kind in last second.',
      ['request_kind'],
    )
    metrics.beforeText(() => this.#record?.())
  }

  /** The function is called before each scrape, instead of that of an earlier API server in this process. */
  onScrape(record: () => void): void {
    this.#record = record
  }

  of(priority_level: string, flow_schema: string) {
    const labels = { priority_level, flow_schema }
    return {
      dispatched: this.#dispatched.with(labels),
      executing: this.#executing.with(labels),
      seats: this.#seats.with(labels),
      waiting: this.#waiting.with(labels),
      waitingSeats: this.#waitingSeats.with(labels),
      waited: this.#waitSeconds.with({ ...labels, execute: 'true' }),
      waitedInVain: this.#waitSeconds.with({ ...labels, execute: 'false' }),
      executed: this.#executionSeconds.with({ ...labels, type: 'regular' }),
      watched: this.#executionSeconds.with({ ...labels, type: 'watch' }),
      width: this.#width.with(labels),
      queueLength: this.#queueLength.with(labels),
      watchers: this.#watchers.with(labels),
    }
  }

  ofLevel(priority_level: string) {
    const executing = { priority_level, phase: 'executing' }
    return {
      executing: this.#levelRequests.with(executing),
      seats: this.#levelSeats.with(executing),
      waiting: this.#levelRequests.with({ priority_level, phase: 'waiting' }),
    }
  }

  ofKind(request_kind: string) {
    return {
      executing: this.#kindRequests.with({ request_kind, phase: 'executing' }),
      waiting: this.#kindRequests.with({ request_kind, phase: 'waiting' }),
      waitingPeak: this.#kindWaiting.with({ request_kind }),
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
