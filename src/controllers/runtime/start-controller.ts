// startController: the work queue, workers, retries, events, metrics and flow records of one controller.
import { greatestOf } from '../../base/collections/extremes.ts'
import { context } from '../../base/observability/context.ts'
import { causeOf, noCause } from '../../base/observability/flow-recorder.ts'
import { errorText } from '../../base/observability/log.ts'
import type { Metrics } from '../../base/observability/metrics.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { WorkQueue, type Work } from '../../base/work/work-queue.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { splitKey } from '../../api/meta/object.ts'
import { EventRecorder } from '../../client/events/event-recorder.ts'
import { controllerFamilies } from '../metrics/controller-families.ts'
import type { Controller } from './controller.ts'
import { PlanRunner } from './plan-runner.ts'
import type { ControllerMetrics, ControllerDeps, Runner, RunnerDeps } from './runner.ts'
import { reconcileRunner } from './reconcile-runner.ts'
import { pauseIfDue } from './turn-pause.ts'

/** From ten nanoseconds to ten seconds, in powers of ten, with upstream's rounding. */
const secondsBounds = [1e-8, 1e-7, 1e-6, 9.999999999999999e-6, 9.999999999999999e-5, 1e-3, 1e-2, 0.1, 1, 10]

/** The names are upstream's, so existing dashboards work. */
export const controllerMetrics = (metrics: Metrics): ControllerMetrics => ({
  ...controllerFamilies(metrics),
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

const workersPerController = 5

/** Starts the controller's workers in the task group. */
export function startController(controller: Controller, deps: ControllerDeps, tasks: TaskGroup): void {
  const { client } = deps
  const backoff = controller.type === 'reconcile' ? controller.backoff : undefined
  const queue = new WorkQueue<string>(deps.clock, backoff)
  const events = new EventRecorder(client, controller.component ?? controller.account, deps)
  const runnerDeps: RunnerDeps = { ...deps, queue, events, tasks }
  const runner =
    controller.type === 'plan' ? new PlanRunner(controller, runnerDeps) : reconcileRunner(controller, runnerDeps)
  const series = seriesOf(controller.name, deps.metrics)
  const removeCollector = deps.metrics.beforeText(() => collect(queue, series, deps.clock.nowMs()))
  tasks.signal.addEventListener(
    'abort',
    () => {
      queue.close()
      removeCollector()
    },
    { once: true },
  )
  tasks.start(`${controller.name} events`, (signal) => events.run(signal))
  const workers = controller.type === 'reconcile' ? (controller.workers ?? workersPerController) : workersPerController
  for (let worker = 0; worker < workers; worker++)
    tasks.start(`${controller.name} worker ${worker}`, async (signal) => {
      await deps.informers.synced()
      for (let work = await queue.take(signal); work !== undefined; work = await queue.take(signal)) {
        await processKey(controller, runner, work, runnerDeps, series, signal)
        const pause = pauseIfDue(deps.clock)
        if (pause !== undefined) await pause
      }
    })
}

/** The metric series of one controller, resolved once: rendering labels for every key would be slow. */
const seriesOf = (name: string, metrics: ControllerMetrics) => ({
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
function collect(queue: WorkQueue<string>, series: ReturnType<typeof seriesOf>, nowMs: number): void {
  const seconds = [...series.startedMs.values()].map((startedMs) => (nowMs - startedMs) / 1000)
  series.depth.set(queue.depth)
  series.unfinishedSeconds.set(seconds.reduce((sum, each) => sum + each, 0))
  series.longestSeconds.set(Math.max(0, greatestOf(seconds)))
}

async function processKey(
  controller: Controller,
  runner: Runner,
  { key, cause, addedMs }: Work<string>,
  { queue, flow, log, clock }: RunnerDeps,
  series: ReturnType<typeof seriesOf>,
  signal: AbortSignal,
): Promise<void> {
  const { name } = controller
  const participant = `controller/${name}`
  const { reconciles } = controller
  const subject = reconciles === undefined ? undefined : { resource: reconciles.plural, ...splitKey(key) }
  const run = flow.record('reconcile', participant, participant, `reconcile ${key}`, subject, 0, cause)
  const startedMs = clock.nowMs()
  series.adds.add(1)
  series.startedMs.set(key, startedMs)
  series.waitSeconds.observe((startedMs - addedMs) / 1000)
  try {
    const own = { ...causeOf(run), revisions: cause.revisions }
    const isPeriodic = controller.type === 'reconcile' && controller.periodMs !== undefined
    await runner.run(key, context(signal, own), (delayMs) => queue.addAfter(key, delayMs, isPeriodic ? noCause : own))
    flow.finish(run, 'done')
    queue.forget(key)
  } catch (error) {
    if (!signal.aborted) {
      flow.finish(run, errorText(error))
      series.retries.add(1)
      if (!isExpected(error)) log.warn('a reconcile failed and will be retried', { controller: name, key, error })
      queue.retry(key, cause)
    }
  } finally {
    series.startedMs.delete(key)
    series.workSeconds.observe((clock.nowMs() - startedMs) / 1000)
    queue.done(key)
  }
}

// Another writer was faster. The retry reads its result, so this is not logged as a failure.
const isExpected = (error: unknown): boolean =>
  error instanceof StatusError && ['Conflict', 'AlreadyExists', 'NotFound'].includes(error.reason)
