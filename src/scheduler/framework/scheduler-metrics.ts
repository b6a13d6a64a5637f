// The scheduler's metrics, with upstream's names.
import type { Clock } from '../../base/time/clock.ts'
import type { Metrics } from '../../base/observability/metrics.ts'

export type SchedulerMetrics = ReturnType<typeof schedulerMetrics>

export const schedulerMetrics = (metrics: Metrics) => ({
  ...attemptMetrics(metrics),
  ...podMetrics(metrics),
  ...queueMetrics(metrics),
  ...preemptionMetrics(metrics),
  ...pluginMetrics(metrics),
  ...eventMetrics(metrics),
  ...apiCallMetrics(metrics),
})

/** Exponential buckets, multiplied step by step, so that the rounding is upstream's. */
function exponentialBuckets(first: number, factor: number, count: number): number[] {
  const bounds = [first]
  while (bounds.length < count) bounds.push((bounds.at(-1) ?? 0) * factor)
  return bounds
}

const attemptMetrics = (metrics: Metrics) => ({
  attempts: metrics.counter(
    'scheduler_schedule_attempts_total',
    "[STABLE] Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be scheduled, while 'error' means an internal scheduler problem.",
    ['profile', 'result'],
  ),
  attemptSeconds: metrics.histogram(
    'scheduler_scheduling_attempt_duration_seconds',
    '[STABLE] Scheduling attempt latency in seconds (scheduling algorithm + binding)',
    exponentialBuckets(0.001, 2, 15),
    ['profile', 'result'],
  ),
  algorithmSeconds: metrics.histogram(
    'scheduler_scheduling_algorithm_duration_seconds',
    '[ALPHA] Scheduling algorithm latency in seconds',
    exponentialBuckets(0.001, 2, 15),
  ),
  pointSeconds: metrics.histogram(
    'scheduler_framework_extension_point_duration_seconds',
    '[STABLE] Latency for running all plugins of a specific extension point.',
    exponentialBuckets(0.0001, 2, 12),
    ['extension_point', 'profile', 'status'],
  ),
  pluginSeconds: metrics.histogram(
    'scheduler_plugin_execution_duration_seconds',
    '[ALPHA] Duration for running a plugin at a specific extension point.',
    exponentialBuckets(0.00001, 1.5, 20),
    ['extension_point', 'plugin', 'status'],
  ),
})

const podMetrics = (metrics: Metrics) => ({
  podSeconds: metrics.histogram(
    'scheduler_pod_scheduling_sli_duration_seconds',
    '[BETA] E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve multiple scheduling attempts.',
    exponentialBuckets(0.01, 2, 20),
    ['attempts'],
  ),
  podAttempts: metrics.histogram(
    'scheduler_pod_scheduling_attempts',
    '[STABLE] Number of attempts to successfully schedule a pod.',
    exponentialBuckets(1, 2, 5),
  ),
  scheduledAfterFlush: metrics.counter(
    'scheduler_pod_scheduled_after_flush_total',
    '[ALPHA] Number of pods that were successfully scheduled after being flushed from unschedulablePods due to timeout. This metric helps detect potential queueing hint misconfigurations or event handling issues.',
  ),
})

const queueMetrics = (metrics: Metrics) => ({
  pending: metrics.gauge(
    'scheduler_pending_pods',
    "[STABLE] Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' means number of pods in backoffQ; 'unschedulable' means number of pods in unschedulablePods that the scheduler attempted to schedule and failed; 'gated' is the number of unschedulable pods that the scheduler never attempted to schedule because they are gated.",
    ['queue'],
  ),
  incoming: metrics.counter(
    'scheduler_queue_incoming_pods_total',
    '[STABLE] Number of pods added to scheduling queues by event and queue type.',
    ['event', 'queue'],
  ),
  cacheSize: metrics.gauge(
    'scheduler_cache_size',
    '[ALPHA] Number of nodes, pods, and assumed (bound) pods in the scheduler cache.',
    ['type'],
  ),
})

const preemptionMetrics = (metrics: Metrics) => ({
  preemptionAttempts: metrics.counter(
    'scheduler_preemption_attempts_total',
    '[STABLE] Total preemption attempts in the cluster till now',
  ),
  preemptionVictims: metrics.histogram(
    'scheduler_preemption_victims',
    '[STABLE] Number of selected preemption victims',
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
})

const pluginMetrics = (metrics: Metrics) => ({
  evaluations: metrics.counter(
    'scheduler_plugin_evaluation_total',
    '[BETA] Number of attempts to schedule pods by each plugin and the extension point (available only in PreFilter, Filter, PreScore, and Score).',
    ['extension_point', 'plugin', 'profile'],
  ),
  unschedulable: metrics.gauge(
    'scheduler_unschedulable_pods',
    '[BETA] The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for all plugins that caused it to not schedule and so this metric have meaning only when broken down by plugin.',
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
    '[BETA] Number of running goroutines split by the work they do such as binding.',
    ['operation'],
  ),
})

const eventMetrics = (metrics: Metrics) => ({
  hintSeconds: metrics.histogram(
    'scheduler_queueing_hint_execution_duration_seconds',
    'Duration for running a queueing hint function of a plugin.',
    exponentialBuckets(0.00001, 1.5, 20),
    ['event', 'hint', 'plugin'],
  ),
  eventSeconds: metrics.histogram(
    'scheduler_event_handling_duration_seconds',
    '[ALPHA] Event handling latency in seconds.',
    exponentialBuckets(0.0001, 2, 12),
    ['event'],
  ),
})

const apiCallMetrics = (metrics: Metrics) => ({
  calls: metrics.counter(
    'scheduler_async_api_call_execution_total',
    '[ALPHA] Total number of API calls executed by the async dispatcher.',
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
