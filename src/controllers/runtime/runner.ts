// The dependencies of controllers, and of what runs them.
import type { Clock } from '../../base/time/clock.ts'
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { Client } from '../../client/client.ts'
import type { EventRecorder } from '../../client/events/event-recorder.ts'
import type { Informers } from '../../client/informer/informers.ts'
import type { QueueMetrics } from '../../client/reconcile/queue-metrics.ts'
import type { Reconciler } from '../../client/reconcile/reconciler.ts'
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

export type ControllerMetrics = ControllerFamilies & QueueMetrics

export interface RunnerDeps extends ControllerDeps {
  readonly queue: Pick<Reconciler, 'add' | 'addAfter'>
  readonly events: EventRecorder
  /** The controller's tasks. */
  readonly tasks: TaskGroup
}
