// A runner does the work for one key of a controller; these are the parts that the runtime hands to it.
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
import type { ControllerSettings } from './controller.ts'

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

export interface ControllerMetrics {
  /** Calls the function before the metrics are read; returns how to stop. */
  readonly beforeText: (collect: () => void) => () => void
  readonly depth: Gauge
  /** The time that the keys have taken so far that workers hold: of all, and of the one that took longest. */
  readonly unfinishedSeconds: Gauge
  readonly longestSeconds: Gauge
  readonly adds: Counter
  readonly retries: Counter
  /** How long keys waited for a worker. */
  readonly waitSeconds: Histogram
  /** How long a worker took for a key. */
  readonly workSeconds: Histogram
}

/** Work for one key. `later` asks to look again. */
export interface Runner {
  run(key: string, context: Context, later: (delayMs: number) => void): Promise<void>
}

export interface RunnerDeps extends ControllerDeps {
  readonly queue: WorkQueue<string>
  readonly events: EventRecorder
  /** What the controller runs in. */
  readonly tasks: TaskGroup
}
