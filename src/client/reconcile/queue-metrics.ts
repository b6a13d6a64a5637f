// The metrics of work queues: what waits, what is in progress, and how long both take. The names are upstream's, so
// existing dashboards work.
import { greatestOf } from '../../base/collections/extremes.ts'
import type { Counter, Gauge, Histogram, Metrics } from '../../base/observability/metrics.ts'

export interface QueueMetrics {
  /** Calls the function before the metrics are read; returns a function that removes it. */
  readonly beforeText: (collect: () => void) => () => void
  readonly depth: Gauge
  /** How long the keys in progress have taken so far: in total, and the longest. */
  readonly unfinishedSeconds: Gauge
  readonly longestSeconds: Gauge
  readonly adds: Counter
  readonly retries: Counter
  /** How long keys wait for a worker. */
  readonly waitSeconds: Histogram
  /** How long a worker takes for a key. */
  readonly workSeconds: Histogram
}

/** From ten nanoseconds to ten seconds, in powers of ten, with upstream's rounding. */
const secondsBounds = [1e-8, 1e-7, 1e-6, 9.999999999999999e-6, 9.999999999999999e-5, 1e-3, 1e-2, 0.1, 1, 10]

export const queueMetrics = (metrics: Metrics): QueueMetrics => ({
  beforeText: (collect) => metrics.beforeText(collect),
  depth: metrics.gauge('workqueue_depth', '[BETA] Current depth of workqueue', ['name']),
  unfinishedSeconds: metrics.gauge(
    'workqueue_unfinished_work_seconds',
    '[BETA] How many seconds of work is in progress and has not been observed by work_duration. Large values indicate stuck workers.',
    ['name'],
  ),
  longestSeconds: metrics.gauge(
    'workqueue_longest_running_processor_seconds',
    '[BETA] How many seconds has the longest running processor for workqueue been running.',
    ['name'],
  ),
  adds: metrics.counter('workqueue_adds_total', '[BETA] Total number of adds handled by workqueue', ['name']),
  retries: metrics.counter('workqueue_retries_total', '[BETA] Total number of retries handled by workqueue', ['name']),
  waitSeconds: metrics.histogram(
    'workqueue_queue_duration_seconds',
    '[BETA] How long in seconds an item stays in workqueue before being requested.',
    secondsBounds,
    ['name'],
  ),
  workSeconds: metrics.histogram(
    'workqueue_work_duration_seconds',
    '[BETA] How long in seconds processing an item from workqueue takes.',
    secondsBounds,
    ['name'],
  ),
})

export type QueueSeries = ReturnType<typeof queueSeries>

/** The metric series of one queue, resolved once: rendering labels for every key would be slow. */
export const queueSeries = (name: string, metrics: QueueMetrics) => ({
  depth: metrics.depth.with({ name }),
  unfinishedSeconds: metrics.unfinishedSeconds.with({ name }),
  longestSeconds: metrics.longestSeconds.with({ name }),
  adds: metrics.adds.with({ name }),
  retries: metrics.retries.with({ name }),
  waitSeconds: metrics.waitSeconds.with({ name }),
  workSeconds: metrics.workSeconds.with({ name }),
  /** When work in progress started, by key. */
  startedMs: new Map<string, number>(),
})

/** Updates the gauges when the metrics are read. */
export function collectQueue(series: QueueSeries, depth: number, nowMs: number): void {
  const seconds = [...series.startedMs.values()].map((startedMs) => (nowMs - startedMs) / 1000)
  series.depth.set(depth)
  series.unfinishedSeconds.set(seconds.reduce((sum, each) => sum + each, 0))
  series.longestSeconds.set(Math.max(0, greatestOf(seconds)))
}
