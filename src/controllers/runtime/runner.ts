// Runner: processes one key of a controller; and the dependencies that the runtime passes to it.
import type { Clock } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Counter, Gauge, Histogram } from '../../base/observability/metrics.ts'
import type { Random } from '../../base/random/random.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { WorkQueue } from '../../base/work/work-queue.ts'
import type { Client } from '../../client/client.ts'
import type { EventRecorder } from '../../client/events/event-recorder.ts'
import type { Informers } from '../../client/informer/informers.ts'
import type { ControllerFamilies } from '../metrics/controller-families.ts'
import type { ControllerSettings } from './controller-settings.ts'

export interface ControllerDeps {
  readonly client: Client
  readonly informers: Informers
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
  readonly log: Log
  readonly metrics: ControllerMetrics
  readonly settings: ControllerSettings
}

export interface ControllerMetrics extends ControllerFamilies {
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

/** Processes one key. `later` requeues it after a delay. */
export interface Runner {
  run(key: string, context: Context, later: (delayMs: number) => void): Promise<void>
}

export interface RunnerDeps extends ControllerDeps {
  readonly queue: WorkQueue<string>
  readonly events: EventRecorder
  /** The controller's tasks. */
  readonly tasks: TaskGroup
}
