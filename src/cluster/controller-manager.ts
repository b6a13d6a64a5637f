// The controller manager: all controllers on shared caches, each under its own account; alone, or one of several of
// which one leads.
import type { Clock } from '../base/clock.ts'
import type { FlowRecorder } from '../base/flow.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import type { TaskGroup } from '../base/task-group.ts'
import type { Client } from '../client/client.ts'
import { Informers } from '../client/informers.ts'
import { LeaderElection, type LeaseSettings } from '../client/leader-election.ts'
import type { Controller, ControllerSettings } from '../controllers/controller.ts'
import { controllers } from '../controllers/controllers.ts'
import type { ControllerMetrics } from '../controllers/runner.ts'
import { startController } from '../controllers/runtime.ts'

export interface ControllerManagerParts {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly flow: FlowRecorder
  readonly metrics: ControllerMetrics
  readonly settings: ControllerSettings
  /** Fills the caches and holds the lease. */
  readonly client: Client
  /** The client of one controller, under its account where that can be had. */
  readonly clientOf: (controller: Controller) => Client
  /** Who we are among several; without it there is no election. */
  readonly identity?: string
  /** How they elect. */
  readonly lease?: Partial<LeaseSettings>
  /** Called when this manager begins to act. */
  readonly onLead?: () => void
}

export interface ControllerManager {
  /** Gives up the lead after an orderly end, so that the next manager need not wait. */
  release(signal: AbortSignal): Promise<void>
}

const leaseName = 'kube-controller-manager'

export function startControllerManager(tasks: TaskGroup, parts: ControllerManagerParts): ControllerManager {
  const { identity } = parts
  if (identity === undefined) {
    startControllers(tasks, parts)
    return { release: () => Promise.resolve() }
  }
  const election = new LeaderElection({ ...parts, name: leaseName, ...parts.lease, identity })
  tasks.start('leader election', (signal) => election.run((led) => startControllers(led, parts), signal))
  return election
}

function startControllers(tasks: TaskGroup, parts: ControllerManagerParts): void {
  parts.onLead?.()
  const informers = new Informers(parts.client, parts, tasks)
  for (const controller of controllers)
    startController(
      controller,
      { ...parts, random: parts.random.fork(controller.name), client: parts.clientOf(controller), informers },
      tasks,
    )
}
