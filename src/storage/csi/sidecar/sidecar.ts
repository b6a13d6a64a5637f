// Sidecar: a controller that connects the API with a CSI driver. It reconciles keys that changes of the watched kinds
// enqueue.
import type { TaskGroup } from '../../../base/async/task-group.ts'
import type { FlowRecorder } from '../../../base/observability/flow-recorder.ts'
import type { Log } from '../../../base/observability/log.ts'
import type { Random } from '../../../base/random/random.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Backoff } from '../../../base/work/work-queue.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import type { Kind, ResourceType } from '../../../api/kind/kind.ts'
import type { ApiObject, ObjectKey } from '../../../api/meta/object.ts'
import type { Client } from '../../../client/client.ts'
import { EventRecorder } from '../../../client/events/event-recorder.ts'
import type { ObjectChange } from '../../../client/informer/informer.ts'
import type { Informers } from '../../../client/informer/informers.ts'
import { Reconciler, type Reconcile } from '../../../client/reconcile/reconciler.ts'
import type { DriverConnection } from './driver-connection.ts'

export interface ControllerDeps {
  readonly client: Client
  readonly informers: Informers
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
  readonly log: Log
}

export interface SidecarDeps extends ControllerDeps {
  readonly driver: DriverConnection
}

export interface WithEvents {
  readonly events: EventRecorder
}

export type ControllerTools = ControllerDeps & WithEvents
export type SidecarTools = SidecarDeps & WithEvents

export interface Sidecar {
  readonly name: string
  readonly watches: readonly SidecarWatch[]
  readonly reconcile: Reconcile
}

export interface SidecarWatch {
  readonly kind: Kind
  /** The keys that a change concerns. */
  keysOf(change: ObjectChange<ApiObject>): readonly ObjectKey[]
}

export const watch = <T extends ApiObject>(
  kind: ResourceType<T>,
  keysOf: (change: ObjectChange<T>) => readonly ObjectKey[],
): SidecarWatch => ({ kind: kind as unknown as Kind, keysOf })

/**
 * Whether a part of the object changed. Sidecars ignore their own writes of statuses: a key that failed is tried again
 * after its backoff, not because the failure was written to its object.
 */
export const isChanged = <T extends ApiObject>(
  { now, before }: ObjectChange<T>,
  part: (object: T) => unknown,
): boolean => now === undefined || before === undefined || !equalValues(part(now), part(before))

/** The retries of upstream's sidecars: 1 s doubling to 5 minutes. */
const sidecarBackoff: Backoff = { initialMs: 1_000, maxMs: 300_000 }
const workersPerSidecar = 10

/** Starts the sidecar's workers in the task group. Events have the name of the component. */
export function startSidecar<Deps extends ControllerDeps>(
  define: (tools: Deps & WithEvents) => Sidecar,
  component: string,
  deps: Deps,
  tasks: TaskGroup,
): void {
  const { informers, clock, flow, log } = deps
  const events = new EventRecorder(deps.client, component, deps)
  const sidecar = define({ ...deps, events })
  const { name } = sidecar
  const recordedAs = { flow, participant: name }
  const reconciler = new Reconciler(
    { name, workers: workersPerSidecar, backoff: sidecarBackoff, recordedAs },
    { clock, log },
  )
  for (const { kind, keysOf } of sidecar.watches)
    informers.of(kind).onChange((change) => {
      for (const key of keysOf(change)) reconciler.add(key, change.cause)
    })
  tasks.start(`${name} events`, (signal) => events.run(signal))
  reconciler.start(sidecar.reconcile, () => informers.synced(), tasks)
}
