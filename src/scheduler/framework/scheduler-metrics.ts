// The scheduler's metrics, with upstream's names.
import type { Clock } from '../../base/time/clock.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Counter, Gauge, Histogram, Metrics } from '../../base/observability/metrics.ts'
import type { QueueName, QueueObserver, QueuedPod } from '../queue/scheduling-queue.ts'

/** Exponential buckets, as upstream uses. */
const exponentialBuckets = (first: number, factor: number, count: number): number[] =>
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
  readonly preemptions: Counter
  readonly preemptionSeconds: Histogram
  readonly evaluations: Counter
  readonly unschedulable: Gauge
  readonly permitSeconds: Histogram
  readonly goroutines: Gauge
  readonly hintSeconds: Histogram
  readonly eventSeconds: Histogram
  readonly calls: Counter
  readonly callSeconds: Histogram
  readonly callsPending: Gauge
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
    exponentialBuckets(0.001, 2, 15),
    ['profile', 'result'],
  ),
  algorithmSeconds: metrics.histogram(
    'scheduler_scheduling_algorithm_duration_seconds',
    'Scheduling algorithm latency in seconds',
    exponentialBuckets(0.001, 2, 15),
  ),
  pointSeconds: metrics.histogram(
    'scheduler_framework_extension_point_duration_seconds',
    'Latency for running all plugins of a specific extension point.',
    exponentialBuckets(0.0001, 2, 12),
    ['extension_point', 'profile', 'status'],
  ),
  pluginSeconds: metrics.histogram(
    'scheduler_plugin_execution_duration_seconds',
    'Duration for running a plugin at a specific extension point.',
    exponentialBuckets(0.00001, 1.5, 20),
    ['extension_point', 'plugin', 'status'],
  ),
  podSeconds: metrics.histogram(
    'scheduler_pod_scheduling_sli_duration_seconds',
    'E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve multiple scheduling attempts.',
    exponentialBuckets(0.01, 2, 20),
    ['attempts'],
  ),
  podAttempts: metrics.histogram(
    'scheduler_pod_scheduling_attempts',
    'Number of attempts to successfully schedule a pod.',
    exponentialBuckets(1, 2, 5),
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
    exponentialBuckets(1, 2, 7),
  ),
  preemptions: metrics.counter(
    'scheduler_preemption_goroutines_execution_total',
    'Number of preemption goroutines executed.',
    ['result'],
  ),
  preemptionSeconds: metrics.histogram(
    'scheduler_preemption_goroutines_duration_seconds',
    'Duration in seconds for running goroutines for the preemption.',
    exponentialBuckets(0.01, 2, 20),
    ['result'],
  ),
  evaluations: metrics.counter(
    'scheduler_plugin_evaluation_total',
    'Number of attempts to schedule pods by each plugin and the extension point (available only in PreFilter, Filter, PreScore, and Score).',
    ['extension_point', 'plugin', 'profile'],
  ),
  unschedulable: metrics.gauge(
    'scheduler_unschedulable_pods',
    'The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for all plugins that caused it to not schedule and so this metric have meaning only when broken down by plugin.',
    ['plugin', 'profile'],
  ),
  permitSeconds: metrics.histogram(
    'scheduler_permit_wait_duration_seconds',
    'Duration of waiting on permit.',
    exponentialBuckets(0.001, 2, 15),
    ['result'],
  ),
  goroutines: metrics.gauge(
    'scheduler_goroutines',
    'Number of running goroutines split by the work they do such as binding.',
    ['operation'],
  ),
  hintSeconds: metrics.histogram(
    'scheduler_queueing_hint_execution_duration_seconds',
    'Duration for running a queueing hint function of a plugin.',
    exponentialBuckets(0.00001, 1.5, 20),
    ['event', 'hint', 'plugin'],
  ),
  eventSeconds: metrics.histogram(
    'scheduler_event_handling_duration_seconds',
    'Event handling latency in seconds.',
    exponentialBuckets(0.0001, 2, 12),
    ['event'],
  ),
  calls: metrics.counter(
    'scheduler_async_api_call_execution_total',
    'Total number of API calls executed by the async dispatcher.',
    ['call_type', 'result'],
  ),
  callSeconds: metrics.histogram(
    'scheduler_async_api_call_execution_duration_seconds',
    'Duration in seconds for executing API call in the async dispatcher.',
    exponentialBuckets(0.001, 2, 15),
    ['call_type', 'result'],
  ),
  callsPending: metrics.gauge(
    'scheduler_pending_async_api_calls',
    'Number of API calls currently pending in the async queue.',
    ['call_type'],
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

/** From this number on, attempts share one label value. */
const attemptsLabelMax = 15

/** Receives the end of an extension point and the plugins that ran in it. */
export type PointTimer = Pick<Stopwatch, 'lap' | 'asked'>

export const noPointTimer: PointTimer = { lap: () => {}, asked: () => {} }

type AskedPoint = Extract<TimedPoint, 'PreFilter' | 'Filter' | 'PreScore' | 'Score'>

/** Measures one attempt to schedule a pod. Each extension point takes the time since the previous one. */
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

  /** A plugin evaluated the pod at this point. */
  asked(point: AskedPoint, plugin: string): void {
    this.#metrics.asked(point, plugin)
  }

  /** Excludes the time since the last point, which was spent waiting. */
  resume(): void {
    this.#lastMs = this.#clock.monotonicMs()
  }

  /** The decision is made; binding follows. */
  decided(): void {
    this.#metrics.all.algorithmSeconds.observe({}, (this.#clock.monotonicMs() - this.#beganMs) / 1000)
  }

  end(result: AttemptResult): void {
    this.#metrics.attempt(result, (this.#clock.monotonicMs() - this.#beganMs) / 1000)
  }
}

/** The series of one profile, resolved once. */
export class ProfileMetrics {
  readonly all: SchedulerMetrics
  readonly #profile: string
  readonly #points: Readonly<Record<PointStatus, Map<TimedPoint, { observe(seconds: number): void }>>> = {
    Success: new Map(),
    Unschedulable: new Map(),
    Error: new Map(),
  }
  readonly #asked: Readonly<Record<AskedPoint, Map<string, { add(amount: number): void }>>> = {
    PreFilter: new Map(),
    Filter: new Map(),
    PreScore: new Map(),
    Score: new Map(),
  }
  readonly #results = new Map<AttemptResult, { count(seconds: number): void }>()

  constructor(all: SchedulerMetrics, profile: string) {
    this.all = all
    this.#profile = profile
  }

  point(point: TimedPoint, status: PointStatus, seconds: number): void {
    const profile = this.#profile
    getOrInsert(this.#points[status], point, () =>
      this.all.pointSeconds.with({ extension_point: point, profile, status }),
    ).observe(seconds)
  }

  asked(point: AskedPoint, plugin: string): void {
    const profile = this.#profile
    getOrInsert(this.#asked[point], plugin, () =>
      this.all.evaluations.with({ extension_point: point, plugin, profile }),
    ).add(1)
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

  /** A pod was bound, after this many attempts and seconds since the first attempt. */
  bound(attempts: number, seconds: number): void {
    const label = attempts >= attemptsLabelMax ? `${attemptsLabelMax}+` : String(attempts)
    this.all.podSeconds.observe({ attempts: label }, seconds)
    this.all.podAttempts.observe({}, attempts)
  }
}

/** Counts the pods of each queue. */
export class QueueMetrics implements QueueObserver {
  readonly #incoming: Counter
  readonly #unschedulable: Gauge
  readonly #pending: Readonly<Record<QueueName, { add(amount: number): void }>>

  constructor({ incoming, pending, unschedulable }: Pick<SchedulerMetrics, 'incoming' | 'pending' | 'unschedulable'>) {
    this.#incoming = incoming
    this.#unschedulable = unschedulable
    const of = (queue: QueueName) => pending.with({ queue })
    this.#pending = {
      active: of('active'),
      backoff: of('backoff'),
      unschedulable: of('unschedulable'),
      gated: of('gated'),
    }
  }

  entered(queue: QueueName, waiting: QueuedPod, event: string): void {
    this.#pending[queue].add(1)
    this.#incoming.add({ event, queue })
    this.#count(waiting, 1)
  }

  left(queue: QueueName, waiting: QueuedPod): void {
    this.#pending[queue].add(-1)
    this.#count(waiting, -1)
  }

  #count({ rejectedBy, pod: { spec } }: QueuedPod, by: 1 | -1): void {
    for (const plugin of rejectedBy) this.#unschedulable.add({ plugin, profile: spec.schedulerName }, by)
  }
}

export type CallType = 'pod_binding' | 'pod_status_patch'

/** Measures an API call that runs concurrently with the next cycle. */
export async function measuredCall<Result>(
  type: CallType,
  { calls, callSeconds, callsPending }: SchedulerMetrics,
  clock: Clock,
  call: () => Promise<Result>,
): Promise<Result> {
  const sinceMs = clock.monotonicMs()
  let result = 'error'
  callsPending.add({ call_type: type }, 1)
  try {
    const answer = await call()
    result = 'success'
    return answer
  } finally {
    callsPending.add({ call_type: type }, -1)
    calls.add({ call_type: type, result })
    callSeconds.observe({ call_type: type, result }, (clock.monotonicMs() - sinceMs) / 1000)
  }
}
