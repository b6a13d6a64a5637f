// The controller manager: all controllers on shared informers, each under its own account; alone, or with leader
// election.
import type { Clock } from '../../base/time/clock.ts'
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { Client } from '../../client/client.ts'
import { Informers } from '../../client/informer/informers.ts'
import { LeaderElection, type LeaseSettings } from '../../client/leader-election.ts'
import type { Controller } from '../../controllers/runtime/controller.ts'
import type { ControllerSettings } from '../../controllers/runtime/controller-settings.ts'
import { controllers as allControllers } from '../../controllers/controllers.ts'
import type { ControllerMetrics } from '../../controllers/runtime/runner.ts'
import { startController } from '../../controllers/runtime/start-controller.ts'

export interface ControllerManagerDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly flow: FlowRecorder
  readonly metrics: ControllerMetrics
  readonly settings: ControllerSettings
  /** Used by the informers and the lease. */
  readonly client: Client
  /** The client of one controller, under its own account if possible. */
  readonly clientOf: (controller: Controller) => Client
  /** Identity for leader election; without it there is no election. */
  readonly identity?: string
  /** Settings of the leader election. */
  readonly lease?: Partial<LeaseSettings>
  /** Called when this manager becomes the leader. */
  readonly onLead?: () => void
  /** The controllers to run, and the name of their lease; those of kube-controller-manager by default. */
  readonly controllers?: readonly Controller[]
  readonly leaseName?: string
}

export interface ControllerManager {
  /** Releases the lease after an orderly end, so that the next manager need not wait. */
  release(signal: AbortSignal): Promise<void>
}

const leaseNameDefault = 'kube-controller-manager'

export function startControllerManager(tasks: TaskGroup, deps: ControllerManagerDeps): ControllerManager {
  const { identity, leaseName = leaseNameDefault } = deps
  if (identity === undefined) {
    startControllers(tasks, deps)
    return { release: () => Promise.resolve() }
  }
  const gauge = deps.metrics.leader
  const election = new LeaderElection({ ...deps, name: leaseName, ...deps.lease, identity, gauge })
  tasks.start('leader election', (signal) => election.run((led) => startControllers(led, deps), signal))
  return election
}

function startControllers(tasks: TaskGroup, deps: ControllerManagerDeps): void {
  deps.onLead?.()
  const informers = new Informers(deps.client, deps, tasks)
  for (const controller of deps.controllers ?? allControllers)
    startController(
      controller,
      { ...deps, random: deps.random.fork(controller.name), client: deps.clientOf(controller), informers },
      tasks,
    )
}
