// EventRecorder: tells what happened to an object as Event objects. Telling never waits: what is told is written after all
// else that is to be done now, and what repeats itself before that is written once. It is best effort: a failed write is
// logged and forgotten.
import type { Clock } from '../base/clock.ts'
import { context, type Context } from '../base/context.ts'
import type { Cause } from '../base/flow.ts'
import { leisure } from '../base/leisure.ts'
import { errorText, type Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import { WorkQueue, type Work } from '../base/work-queue.ts'
import type { ObjectReference } from '../api/core/v1/references.ts'
import { namespaceOf, type ApiObject } from '../api/object.ts'
import { hasReason } from '../api/status-error.ts'
import type { Client } from './client.ts'
import { EventCorrelation, Recent } from './event-correlation.ts'
import { coreForm, seriesForm, type EventForm, type EventNote, type Series } from './event-forms.ts'

export type { EventNote } from './event-forms.ts'

export interface EventRecorderParts {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** On which node the component runs, or which of several it is. */
  readonly host?: string
  readonly form?: 'core/v1' | 'events.k8s.io/v1'
}

/** Events that wait to be written; what comes beyond them is not told. */
const waitingMax = 1 << 16
/** Writes under way at a time: a store that commits in groups takes them together. */
const writesMax = 16

export class EventRecorder {
  readonly #client: Client
  readonly #component: string
  readonly #parts: EventRecorderParts
  readonly #form: EventForm
  readonly #correlation = new EventCorrelation()
  /** By key, what may repeat itself. */
  readonly #told = new Recent<Series>()
  /** By key, what is to be written. */
  readonly #waiting = new Map<string, Series>()
  readonly #queue: WorkQueue<string>

  constructor(client: Client, component: string, parts: EventRecorderParts) {
    this.#client = client
    this.#component = component
    this.#parts = parts
    this.#form = parts.form === 'events.k8s.io/v1' ? seriesForm : coreForm
    this.#queue = new WorkQueue(parts.clock)
  }

  record(object: ApiObject, note: EventNote, { cause }: Pick<Context, 'cause'>): void {
    const nowMs = this.#parts.clock.nowMs()
    const { key, message, isHeard } = this.#correlated(object, note, nowMs)
    if (!isHeard || this.#waiting.size >= waitingMax) return
    const known = this.#told.get(key)
    const series =
      known === undefined || this.#form.isOver(known, nowMs) ? this.#begin(object, note, message, nowMs) : known
    series.count++
    series.message = message
    series.lastMs = nowMs
    this.#told.set(key, series)
    if (!this.#form.isWorthWriting(series, nowMs)) return
    this.#waiting.set(key, series)
    this.#queue.add(key, cause)
  }

  /** Writes what is told, until the signal ends it. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#queue.close(), { once: true })
    const writes = new Set<Promise<void>>()
    for (let work = await this.#queue.take(signal); work !== undefined; work = await this.#queue.take(signal)) {
      // Whoever reads events reads them later than the objects that they are about.
      await leisure(this.#parts.clock)
      const write = this.#write(work, signal).finally(() => writes.delete(write))
      writes.add(write)
      if (writes.size >= writesMax) await Promise.race(writes)
    }
    await Promise.all(writes)
  }

  #correlated(object: ApiObject, note: EventNote, nowMs: number) {
    const { type, reason, action = reason, fieldPath = '', message, related } = note
    const { uid: subject, resourceVersion } = object.metadata
    if (this.#form === coreForm)
      return this.#correlation.correlate({ subject, topic: `${type} ${reason} ${fieldPath}`, message }, nowMs)
    // What is told of another version is another series.
    const about = `${subject} ${resourceVersion} ${fieldPath} ${related?.metadata.uid ?? ''}`
    return { key: `${about} ${type} ${reason} ${action}`, message, isHeard: true }
  }

  #begin(object: ApiObject, note: EventNote, message: string, nowMs: number): Series {
    return {
      name: this.#newName(object.metadata),
      // Events about objects of the whole cluster stand in the namespace `default`.
      namespace: namespaceOf(object) || 'default',
      about: referenceTo(object, note.fieldPath),
      related: note.related && referenceTo(note.related, undefined),
      note,
      firstMs: nowMs,
      message,
      lastMs: nowMs,
      count: 0,
      writtenMs: undefined,
    }
  }

  async #write({ key, cause }: Work<string>, signal: AbortSignal): Promise<void> {
    const series = this.#waiting.get(key)
    this.#waiting.delete(key)
    try {
      if (series !== undefined) await this.#send(key, series, cause, signal)
    } catch (error) {
      if (signal.aborted) return
      this.#told.delete(key)
      this.#parts.log.warn('an event could not be told', { reason: series?.note.reason, error: errorText(error) })
    } finally {
      this.#queue.done(key)
    }
  }

  async #send(key: string, series: Series, cause: Cause, signal: AbortSignal): Promise<void> {
    const ctx = context(signal, cause)
    const isRepeated = series.writtenMs !== undefined
    series.writtenMs = this.#parts.clock.nowMs()
    if (isRepeated) {
      try {
        await this.#form.countUp(series, this.#client, ctx)
        return
      } catch (error) {
        // Events do not live long: what is gone is told anew.
        if (!hasReason(error, 'NotFound')) throw error
        series = { ...series, name: this.#newName(series.about), firstMs: series.lastMs, count: 1 }
        this.#told.set(key, series)
      }
    }
    const { host } = this.#parts
    await this.#form.create(series, { component: this.#component, host }, this.#client, ctx)
  }

  #newName = ({ name = '' }: { readonly name?: string }): string => `${name}.${this.#parts.random.bytes(8).toHex()}`
}

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
