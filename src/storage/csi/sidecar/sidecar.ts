// Sidecar: a controller that connects the API with a CSI driver. It reconciles keys that changes of the watched kinds
// enqueue; a failed key is tried again after a backoff.
import type { TaskGroup } from '../../../base/async/task-group.ts'
import { context, type Context } from '../../../base/observability/context.ts'
import { causeOf, type FlowRecorder } from '../../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../../base/observability/log.ts'
import type { Random } from '../../../base/random/random.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { WorkQueue, type Backoff, type Work } from '../../../base/work/work-queue.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import type { Kind, ResourceType } from '../../../api/kind/kind.ts'
import type { ApiObject, ObjectKey } from '../../../api/meta/object.ts'
import type { Client } from '../../../client/client.ts'
import { EventRecorder } from '../../../client/events/event-recorder.ts'
import type { ObjectChange } from '../../../client/informer/informer.ts'
import type { Informers } from '../../../client/informer/informers.ts'
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
  /** Returns the delay after which the key is reconciled again, if any. */
  reconcile(key: ObjectKey, context: Context): Promise<number | undefined>
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
  const queue = new WorkQueue<ObjectKey>(deps.clock, sidecarBackoff)
  const events = new EventRecorder(deps.client, component, deps)
  const sidecar = define({ ...deps, events })
  for (const { kind, keysOf } of sidecar.watches)
    deps.informers.of(kind).onChange((change) => {
      for (const key of keysOf(change)) queue.add(key, change.cause)
    })
  tasks.signal.addEventListener('abort', () => queue.close(), { once: true })
  tasks.start(`${sidecar.name} events`, (signal) => events.run(signal))
  for (let worker = 0; worker < workersPerSidecar; worker++)
    tasks.start(`${sidecar.name} worker ${worker}`, async (signal) => {
      await deps.informers.synced()
      for (let work = await queue.take(signal); work !== undefined; work = await queue.take(signal))
        await processKey(sidecar, work, queue, deps, signal)
    })
}

async function processKey(
  sidecar: Sidecar,
  { key, cause }: Work<ObjectKey>,
  queue: WorkQueue<ObjectKey>,
  { flow, log }: ControllerDeps,
  signal: AbortSignal,
): Promise<void> {
  const { name } = sidecar
  const run = flow.record('reconcile', name, name, `reconcile ${key}`, undefined, 0, cause)
  const caused = { ...causeOf(run), revisions: cause.revisions }
  try {
    const againMs = await sidecar.reconcile(key, context(signal, caused))
    flow.finish(run, 'done')
    queue.forget(key)
    if (againMs !== undefined) queue.addAfter(key, againMs, caused)
  } catch (error) {
    flow.finish(run, 'failed')
    if (!signal.aborted) log.warn(`${name} failed`, { key, error: errorText(error) })
    queue.retry(key, caused)
  } finally {
    queue.done(key)
  }
}
