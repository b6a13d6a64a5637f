// EventRecorder: records Event objects about other objects. Recording never blocks: events are written asynchronously
// at low priority, and repetitions before the write are combined. Events are best effort: a failed write is logged and
// dropped.
import type { Clock } from '../../base/time/clock.ts'
import { context, type Context } from '../../base/observability/context.ts'
import { mergeCauses, type Cause } from '../../base/observability/flow-recorder.ts'
import { lowPriorityTurn } from '../../base/work/low-priority-turn.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { offAbort, onAbort } from '../../base/async/on-abort.ts'
import type { Random } from '../../base/random/random.ts'
import type { ObjectReference } from '../../api/core/v1/references.ts'
import { namespaceOf, type ApiObject } from '../../api/meta/object.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Client } from '../client.ts'
import { correlatedMsMax, EventCorrelator, type EventRecord } from './event-correlator.ts'
import {
  coreEventWriter,
  seriesEventWriter,
  seriesMsMax,
  type EventWriter,
  type EventNote,
  type Series,
  type PendingEvent,
} from './event-writers.ts'

export type { EventNote } from './event-writers.ts'

export interface EventRecorderDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** The node of the component, or its instance name. */
  readonly host?: string
  readonly apiVersion?: 'core/v1' | 'events.k8s.io/v1'
}

/** Events in memory; further events are dropped. */
const eventsMax = 1 << 16
/** Concurrent writes; a store that batches its commits writes them together. */
const writesMax = 16
/** Causes kept for one write. */
const causesMax = 16

interface RecordedEvent {
  readonly object: ApiObject
  readonly note: EventNote
  readonly cause: Cause
  readonly atMs: number
}

interface QueuedEvent extends PendingEvent {
  readonly causes: Cause[]
}

export class EventRecorder {
  readonly #client: Client
  readonly #component: string
  readonly #deps: EventRecorderDeps
  readonly #writer: EventWriter
  readonly #correlator: EventCorrelator
  /** Recorded events that have not been correlated. */
  #recorded: RecordedEvent[] = []
  /** Events to write, in the order of their first recording. */
  readonly #queued = new Map<EventRecord, QueuedEvent>()
  #notify = () => {}
  /** A counter that is part of each name. */
  #nameCount = 0

  constructor(client: Client, component: string, deps: EventRecorderDeps) {
    this.#client = client
    this.#component = component
    this.#deps = deps
    this.#writer = deps.apiVersion === 'events.k8s.io/v1' ? seriesEventWriter : coreEventWriter
    this.#correlator = new EventCorrelator(this.#writer === seriesEventWriter ? seriesMsMax + 1 : correlatedMsMax)
  }

  /** Only queues the event; correlation happens later, at low priority. */
  record(object: ApiObject, note: EventNote, { cause }: Pick<Context, 'cause'>): void {
    if (this.#recorded.length + this.#queued.size >= eventsMax) return
    this.#recorded.push({ object, note, cause, atMs: this.#deps.clock.nowMs() })
    this.#notify()
  }

  /** Writes recorded events until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    // At most one concurrent write per series.
    const writes = new Map<EventRecord, Promise<void>>()
    while (!signal.aborted) {
      if (this.#recorded.length === 0 && this.#queued.size === 0) await this.#waitForEvents(signal)
      if (signal.aborted) break
      // Events are less urgent than the objects that they are about.
      await lowPriorityTurn(this.#deps.clock)
      this.#correlateRecorded()
      const next = this.#queued.keys().find((record) => !writes.has(record))
      if (next !== undefined)
        writes.set(
          next,
          this.#write(next, signal).finally(() => writes.delete(next)),
        )
      if (writes.size >= writesMax || (next === undefined && this.#queued.size > 0)) await Promise.race(writes.values())
    }
    await Promise.all(writes.values())
  }

  async #waitForEvents(signal: AbortSignal): Promise<void> {
    const arrived = Promise.withResolvers<void>()
    this.#notify = arrived.resolve
    onAbort(signal, arrived.resolve)
    await arrived.promise
    offAbort(signal, arrived.resolve)
    this.#notify = () => {}
  }

  #correlateRecorded(): void {
    const recorded = this.#recorded
    this.#recorded = []
    for (const each of recorded) this.#correlateOne(each)
  }

  #correlateOne({ object, note, cause, atMs }: RecordedEvent): void {
    const { record, message, isAllowed } = this.#correlationOf(object, note, atMs)
    if (!isAllowed) return
    const known = record.series
    const series =
      known === undefined || this.#writer.isExpired(known, atMs)
        ? { name: this.#newName(object.metadata), firstMs: atMs, lastMs: atMs, count: 0, writtenMs: undefined }
        : known
    series.count++
    series.lastMs = atMs
    record.series = series
    if (!this.#writer.isWorthWriting(series, atMs)) return
    const queued = this.#queued.get(record)
    if (queued === undefined)
      this.#queued.set(record, { ...pendingEvent(object, note, series, message), causes: [cause] })
    else {
      queued.series = series
      queued.message = message
      if (queued.causes.length < causesMax) queued.causes.push(cause)
    }
  }

  #correlationOf(object: ApiObject, note: EventNote, nowMs: number) {
    const { type, reason, action = reason, fieldPath = '', message, related } = note
    const { uid, resourceVersion } = object.metadata
    if (this.#writer === coreEventWriter)
      return this.#correlator.correlate(uid, `${type} ${reason} ${fieldPath}`, message, nowMs)
    // Another version of the object starts another series.
    const topic = `${type} ${reason} ${action} ${fieldPath} ${related?.metadata.uid ?? ''}`
    return { record: this.#correlator.series(`${uid} ${resourceVersion}`, topic, nowMs), message, isAllowed: true }
  }

  async #write(record: EventRecord, signal: AbortSignal): Promise<void> {
    const pending = this.#queued.get(record)
    this.#queued.delete(record)
    if (pending === undefined) return
    try {
      await this.#send(record, pending, context(signal, mergeCauses(pending.causes)))
    } catch (error) {
      if (signal.aborted) return
      record.series = undefined
      this.#deps.log.warn('an event could not be written', { reason: pending.note.reason, error: errorText(error) })
    }
  }

  async #send(record: EventRecord, pending: PendingEvent, ctx: Context): Promise<void> {
    const { series } = pending
    const isRepeated = series.writtenMs !== undefined
    series.writtenMs = this.#deps.clock.nowMs()
    if (isRepeated) {
      try {
        await this.#writer.updateCount(pending, this.#client, ctx)
        return
      } catch (error) {
        // The Event has expired, so a new one is created.
        if (!hasReason(error, 'NotFound')) throw error
        pending.series = { ...series, name: this.#newName(pending.about), firstMs: series.lastMs, count: 1 }
        record.series = pending.series
      }
    }
    const { host } = this.#deps
    await this.#writer.create(pending, { component: this.#component, host }, this.#client, ctx)
  }

  /** The name contains the time and a counter, so that events of one second are listed in the order of recording. */
  #newName = ({ name = '' }: { readonly name?: string }): string => {
    const { clock, random } = this.#deps
    this.#nameCount = (this.#nameCount + 1) & 0xffff
    const order = this.#nameCount.toString(16).padStart(4, '0')
    return `${name}.${Math.floor(clock.nowMs()).toString(16)}${order}${random.bytes(8).toHex().slice(0, 8)}`
  }
}

const pendingEvent = (object: ApiObject, note: EventNote, series: Series, message: string): PendingEvent => ({
  series,
  // Events about cluster-scoped objects are in the namespace `default`.
  namespace: namespaceOf(object) || 'default',
  about: referenceTo(object, note.fieldPath),
  related: note.related && referenceTo(note.related, undefined),
  note,
  message,
})

function referenceTo(object: ApiObject, fieldPath: string | undefined): ObjectReference {
  const { kind, apiVersion } = object
  const { name, uid, resourceVersion, namespace } = object.metadata
  return {
    kind,
    apiVersion,
    name,
    uid,
    resourceVersion,
    ...(namespace === undefined ? {} : { namespace }),
    ...(fieldPath === undefined ? {} : { fieldPath }),
  }
}
