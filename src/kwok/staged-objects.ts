// StagedObjects: the objects of one kind, to which stages are applied at their time.
import type { TaskGroup } from '../base/async/task-group.ts'
import type { Context } from '../base/observability/context.ts'
import { noCause, type Cause, type FlowRecorder } from '../base/observability/flow-recorder.ts'
import type { Log } from '../base/observability/log.ts'
import type { Random } from '../base/random/random.ts'
import type { Clock } from '../base/time/clock.ts'
import { hasReason } from '../api/errors/status-error.ts'
import type { Kind } from '../api/kind/kind.ts'
import { keyOf, namespaceOf, type ApiObject, type ObjectKey } from '../api/meta/object.ts'
import type { Client } from '../client/client.ts'
import type { EventRecorder } from '../client/events/event-recorder.ts'
import type { Informer } from '../client/informer/informer.ts'
import { Reconciler } from '../client/reconcile/reconciler.ts'
import { asJson } from './stages/read-stage.ts'
import { stageChanges, type StageChange } from './stages/stage-changes.ts'
import { chooseStage, delayMsOf, stageMatches, type Stage, type StageFunctions } from './stages/stage.ts'

export interface StagedObjectsDeps {
  readonly client: Client
  readonly events: EventRecorder
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly flow: FlowRecorder
}

export interface StagedObjectsOptions<T extends ApiObject> {
  readonly kind: Kind
  readonly informer: Informer<T>
  readonly stages: () => readonly Stage[]
  /** Whether the object is a simulated one. */
  readonly isManaged: (object: T) => boolean
  readonly functions: StageFunctions
  /** Called when an object is gone. */
  readonly onRemoved?: (object: T) => void
}

/** What comes next for an object. */
interface Pending {
  readonly uid: string
  readonly stage: Stage
  readonly dueMs: number
}

const workers = 16

export class StagedObjects<T extends ApiObject> {
  readonly #options: StagedObjectsOptions<T>
  readonly #deps: StagedObjectsDeps
  readonly #reconciler: Reconciler
  readonly #pending = new Map<ObjectKey, Pending>()
  /** The version to which a stage was applied. The object is left alone until the result is in the cache. */
  readonly #applied = new Map<ObjectKey, string>()

  constructor(options: StagedObjectsOptions<T>, deps: StagedObjectsDeps) {
    this.#options = options
    this.#deps = deps
    const { kind } = options
    const name = `kwok-${kind.singular}`
    this.#reconciler = new Reconciler(
      {
        name,
        workers,
        recordedAs: { flow: deps.flow, participant: 'kwok', kind },
        failureMessage: 'a stage could not be applied and will be retried',
      },
      { clock: deps.clock, log: deps.log },
    )
  }

  start(tasks: TaskGroup): void {
    const { informer, onRemoved } = this.#options
    informer.onChange(({ key, now, before, cause }) => {
      if (now === undefined && before !== undefined) {
        this.#forget(key)
        onRemoved?.(before)
      } else this.#reconciler.add(key, cause)
    })
    this.#reconciler.start(
      (key, ctx) => this.#reconcile(key, ctx),
      () => informer.synced,
      tasks,
    )
  }

  add(key: ObjectKey, cause: Cause = noCause): void {
    this.#reconciler.add(key, cause)
  }

  /** The stages have changed. */
  addAll(): void {
    this.#applied.clear()
    for (const object of this.#options.informer.all()) this.add(keyOf(object))
  }

  #forget(key: ObjectKey): void {
    this.#pending.delete(key)
    this.#applied.delete(key)
  }

  async #reconcile(key: ObjectKey, ctx: Context): Promise<number | undefined> {
    const { informer, isManaged, functions } = this.#options
    const object = informer.get(key)
    if (object === undefined || !isManaged(object)) {
      this.#forget(key)
      return undefined
    }
    const { resourceVersion } = object.metadata
    if (this.#applied.get(key) === resourceVersion) return undefined
    const pending = this.#next(key, object)
    if (pending === undefined) {
      this.#forget(key)
      return undefined
    }
    this.#pending.set(key, pending)
    const leftMs = pending.dueMs - this.#deps.clock.nowMs()
    if (leftMs > 0) return leftMs
    const changes = await stageChanges(pending.stage, asJson(object), functions)
    for (const change of changes) await this.#apply(change, object, ctx)
    this.#pending.delete(key)
    // An object that is gone meanwhile was forgotten, and stays so.
    if (informer.get(key) !== undefined) this.#applied.set(key, resourceVersion)
    return undefined
  }

  /** The stage that was chosen before, while it exists and matches; otherwise another one, from now. */
  #next(key: ObjectKey, object: T): Pending | undefined {
    const { clock, random } = this.#deps
    const stages = this.#options.stages()
    const json = asJson(object)
    const { uid } = object.metadata
    const known = this.#pending.get(key)
    if (known?.uid === uid && stages.includes(known.stage) && stageMatches(known.stage, json)) return known
    const stage = chooseStage(stages, json, random)
    const nowMs = clock.nowMs()
    return stage && { uid, stage, dueMs: nowMs + delayMsOf(stage, json, nowMs, random) }
  }

  async #apply(change: StageChange, object: T, ctx: Context): Promise<void> {
    const { client, events } = this.#deps
    const { name, uid } = object.metadata
    const objects = client.of(this.#options.kind)
    const namespace = namespaceOf(object)
    switch (change.kind) {
      case 'event': {
        const { type, reason, message } = change
        events.record(object, { type, reason, message }, ctx)
        return
      }
      case 'delete':
        await objects.delete(name, namespace, { gracePeriodSeconds: 0, uid }, ctx).catch(unlessNotFound)
        return
      case 'patch':
        await objects
          .patch(name, namespace, change.body, change.patchType, ctx, change.subresource)
          .catch(unlessNotFound)
        return
      default:
        return change satisfies never
    }
  }
}

/** An object that is gone has no further stage. */
function unlessNotFound(error: unknown): void {
  if (!hasReason(error, 'NotFound')) throw error
}
