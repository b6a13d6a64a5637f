// startController: runs the definition of a controller on a Reconciler.
import type { Metrics } from '../../base/observability/metrics.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { EventRecorder } from '../../client/events/event-recorder.ts'
import { queueMetrics } from '../../client/reconcile/queue-metrics.ts'
import { Reconciler } from '../../client/reconcile/reconciler.ts'
import { controllerFamilies } from '../metrics/controller-families.ts'
import type { Controller } from './controller.ts'
import { planRunner } from './plan-runner.ts'
import type { ControllerMetrics, ControllerDeps, RunnerDeps } from './runner.ts'
import { reconcileRunner } from './reconcile-runner.ts'

export const controllerMetrics = (metrics: Metrics): ControllerMetrics => ({
  ...controllerFamilies(metrics),
  ...queueMetrics(metrics),
})

const workersPerController = 5

/** Starts the controller's workers in the task group. */
export function startController(controller: Controller, deps: ControllerDeps, tasks: TaskGroup): void {
  const { client, flow, informers } = deps
  const { name, reconciles: kind } = controller
  const own = controller.type === 'reconcile' ? controller : undefined
  const queue = new Reconciler(
    {
      name,
      workers: own?.workers ?? workersPerController,
      ...(own?.backoff && { backoff: own.backoff }),
      isPeriodic: own?.periodMs !== undefined,
      recordedAs: { flow, participant: `controller/${name}`, kind },
    },
    deps,
  )
  const events = new EventRecorder(client, controller.component ?? controller.account, deps)
  const runnerDeps: RunnerDeps = { ...deps, queue, events, tasks }
  const reconcile =
    controller.type === 'plan' ? planRunner(controller, runnerDeps) : reconcileRunner(controller, runnerDeps)
  tasks.start(`${name} events`, (signal) => events.run(signal))
  queue.start(reconcile, () => informers.synced(), tasks)
}
