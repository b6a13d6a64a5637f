// What the scheduler counts and measures, under upstream's names.
import type { Clock } from '../base/clock.ts'
import type { Counter, Gauge, Histogram, Metrics } from '../base/metrics.ts'
import type { Place } from './queue.ts'

/** Bounds that grow by a factor, as upstream's do. */
const growing = (first: number, factor: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => first * factor ** index)

export interface SchedulerMetrics {
  readonly attempts: Counter
  readonly attemptSeconds: Histogram
  readonly algorithmSeconds: Histogram
  readonly pointSeconds: Histogram
  readonly pluginSeconds: Histogram
  readonly podSeconds: Histogram
  readonly podAttempts: Histogram
  readonly pending: Gauge
  readonly incoming: Counter
  readonly cacheSize: Gauge
  readonly preemptionAttempts: Counter
  readonly preemptionVictims: Histogram
}

export const schedulerMetrics = (metrics: Metrics): SchedulerMetrics => ({
  attempts: metrics.counter(
    'scheduler_schedule_attempts_total',
    "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be scheduled, while 'error' means an internal scheduler problem.",
    ['profile', 'result'],
  ),
  attemptSeconds: metrics.histogram(
    'scheduler_scheduling_attempt_duration_seconds',
    'Scheduling attempt latency in seconds (scheduling algorithm + binding)',
    growing(0.001, 2, 15),
    ['profile', 'result'],
  ),
  algorithmSeconds: metrics.histogram(
    'scheduler_scheduling_algorithm_duration_seconds',
    'Scheduling algorithm latency in seconds',
    growing(0.001, 2, 15),
  ),
  pointSeconds: metrics.histogram(
    'scheduler_framework_extension_point_duration_seconds',
    'Latency for running all plugins of a specific extension point.',
    growing(0.0001, 2, 12),
    ['extension_point', 'profile', 'status'],
  ),
  pluginSeconds: metrics.histogram(
    'scheduler_plugin_execution_duration_seconds',
    'Duration for running a plugin at a specific extension point.',
    growing(0.00001, 1.5, 20),
    ['extension_point', 'plugin', 'status'],
  ),
  podSeconds: metrics.histogram(
    'scheduler_pod_scheduling_sli_duration_seconds',
    'E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve multiple scheduling attempts.',
    growing(0.01, 2, 20),
    ['attempts'],
  ),
  podAttempts: metrics.histogram(
    'scheduler_pod_scheduling_attempts',
    'Number of attempts to successfully schedule a pod.',
    growing(1, 2, 5),
  ),
  pending: metrics.gauge(
    'scheduler_pending_pods',
    "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' means number of pods in backoffQ; 'unschedulable' means number of pods in unschedulablePods that the scheduler attempted to schedule and failed; 'gated' is the number of unschedulable pods that the scheduler never attempted to schedule because they are gated.",
    ['queue'],
  ),
  incoming: metrics.counter(
    'scheduler_queue_incoming_pods_total',
    'Number of pods added to scheduling queues by event and queue type.',
    ['event', 'queue'],
  ),
  cacheSize: metrics.gauge(
    'scheduler_cache_size',
    'Number of nodes, pods, and assumed (bound) pods in the scheduler cache.',
    ['type'],
  ),
  preemptionAttempts: metrics.counter(
    'scheduler_preemption_attempts_total',
    'Total preemption attempts in the cluster till now',
  ),
  preemptionVictims: metrics.histogram(
    'scheduler_preemption_victims',
    'Number of selected preemption victims',
    growing(1, 2, 7),
  ),
})

export type AttemptResult = 'scheduled' | 'unschedulable' | 'error'
export type PointStatus = 'Success' | 'Unschedulable' | 'Error'
export type TimedPoint =
  | 'PreFilter'
  | 'Filter'
  | 'PostFilter'
  | 'PreScore'
  | 'Score'
  | 'Reserve'
  | 'Permit'
  | 'PreBind'
  | 'Bind'
  | 'PostBind'

/** Pods that took so many attempts are told together. */
const attemptsLabelMax = 15

/** Hears when the plugins of a point have been asked. */
export type Laps = Pick<Stopwatch, 'lap'>

export const noLaps: Laps = { lap: () => {} }

/** Measures one attempt to schedule a pod: each point takes the time since the one before it. */
export class Stopwatch {
  readonly #metrics: ProfileMetrics
  readonly #clock: Clock
  readonly #beganMs: number
  #lastMs: number

  constructor(metrics: ProfileMetrics, clock: Clock) {
    this.#metrics = metrics
    this.#clock = clock
    this.#beganMs = this.#lastMs = clock.monotonicMs()
  }

  lap(point: TimedPoint, status: PointStatus = 'Success'): void {
    const nowMs = this.#clock.monotonicMs()
    this.#metrics.point(point, status, (nowMs - this.#lastMs) / 1000)
    this.#lastMs = nowMs
  }

  /** Waiting for others is nobody's time. */
  resume(): void {
    this.#lastMs = this.#clock.monotonicMs()
  }

  /** The decision is made; what follows is binding. */
  decided(): void {
    this.#metrics.all.algorithmSeconds.observe({}, (this.#clock.monotonicMs() - this.#beganMs) / 1000)
  }

  end(result: AttemptResult): void {
    this.#metrics.attempt(result, (this.#clock.monotonicMs() - this.#beganMs) / 1000)
  }
}

/** The series of one profile, looked up once. */
export class ProfileMetrics {
  readonly all: SchedulerMetrics
  readonly #profile: string
  readonly #points = new Map<string, { observe(seconds: number): void }>()
  readonly #results = new Map<AttemptResult, { count(seconds: number): void }>()

  constructor(all: SchedulerMetrics, profile: string) {
    this.all = all
    this.#profile = profile
  }

  point(point: TimedPoint, status: PointStatus, seconds: number): void {
    const key = `${point} ${status}`
    let series = this.#points.get(key)
    if (series === undefined) {
      series = this.all.pointSeconds.with({ extension_point: point, profile: this.#profile, status })
      this.#points.set(key, series)
    }
    series.observe(seconds)
  }

  attempt(result: AttemptResult, seconds: number): void {
    let series = this.#results.get(result)
    if (series === undefined) {
      const labels = { profile: this.#profile, result }
      const [total, duration] = [this.all.attempts.with(labels), this.all.attemptSeconds.with(labels)]
      series = {
        count(took) {
          total.add(1)
          duration.observe(took)
        },
      }
      this.#results.set(result, series)
    }
    series.count(seconds)
  }

  /** A pod is bound, after so many attempts since the first began. */
  bound(attempts: number, seconds: number): void {
    const label = attempts >= attemptsLabelMax ? `${attemptsLabelMax}+` : String(attempts)
    this.all.podSeconds.observe({ attempts: label }, seconds)
    this.all.podAttempts.observe({}, attempts)
  }
}

/** What the queue tells of its pods. */
export class QueueMetrics {
  readonly #incoming: Counter
  readonly #pending: Readonly<Record<Place, { add(amount: number): void }>>

  constructor({ incoming, pending }: Pick<SchedulerMetrics, 'incoming' | 'pending'>) {
    this.#incoming = incoming
    const of = (queue: Place) => pending.with({ queue })
    this.#pending = {
      active: of('active'),
      backoff: of('backoff'),
      unschedulable: of('unschedulable'),
      gated: of('gated'),
    }
  }

  entered(queue: Place, event: string): void {
    this.#pending[queue].add(1)
    this.#incoming.add({ event, queue })
  }

  left(queue: Place): void {
    this.#pending[queue].add(-1)
  }
}
