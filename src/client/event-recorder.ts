// EventRecorder: tells what happened to an object as Event objects, in the form of the core group, which most of
// Kubernetes' own components still write, or in that of events.k8s.io, which counts repetitions as a series.
// Telling is best effort: a failed write is logged and forgotten.
import { rfc3339, rfc3339Micro, type Clock } from '../base/clock.ts'
import type { Context } from '../base/context.ts'
import { errorText, type Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import { event } from '../api/core/v1/event.ts'
import type { ObjectReference } from '../api/core/v1/references.ts'
import { eventsEvent } from '../api/events/v1/event.ts'
import { namespaceOf, type ApiObject } from '../api/object.ts'
import { hasReason } from '../api/status-error.ts'
import type { Client } from './client.ts'
import { EventCorrelation, Recent } from './event-correlation.ts'

export interface EventNote {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** What was done, for the newer form; the reason when left out. */
  readonly action?: string
  /** Which part of the object it is about: `spec.containers{web}`. */
  readonly fieldPath?: string
}

export interface EventRecorderParts {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** On which node the component runs. */
  readonly host?: string
  readonly form?: 'core/v1' | 'events.k8s.io/v1'
}

/** Repetitions within this time are one series; a long one is written down once in a while. */
const seriesMsMax = 360_000

interface Told {
  readonly name: string
  readonly count: number
  readonly lastMs: number
  readonly writtenMs: number
}

export class EventRecorder {
  readonly #client: Client
  readonly #component: string
  readonly #parts: EventRecorderParts
  readonly #correlation = new EventCorrelation()
  readonly #told = new Recent<Told>()

  constructor(client: Client, component: string, parts: EventRecorderParts) {
    this.#client = client
    this.#component = component
    this.#parts = parts
  }

  async record(object: ApiObject, note: EventNote, context: Context): Promise<void> {
    try {
      await (this.#parts.form === 'events.k8s.io/v1' ? this.#tellSeries : this.#tell).call(this, object, note, context)
    } catch (error) {
      if (!context.signal.aborted)
        this.#parts.log.warn('an event could not be told', { reason: note.reason, error: errorText(error) })
    }
  }

  async #tell(object: ApiObject, note: EventNote, context: Context): Promise<void> {
    const nowMs = this.#parts.clock.nowMs()
    const { type, reason, fieldPath = '' } = note
    const seen = { subject: object.metadata.uid, topic: `${type} ${reason} ${fieldPath}`, message: note.message }
    const { key, message, isHeard } = this.#correlation.correlate(seen, nowMs)
    if (!isHeard) return
    const told = this.#told.get(key)
    const again = told === undefined ? undefined : { ...told, count: told.count + 1, lastMs: nowMs, writtenMs: nowMs }
    if (again !== undefined && (await this.#countUp(object, again, message, context))) return this.#told.set(key, again)
    const name = this.#newName(object)
    const times = { firstTimestamp: rfc3339(nowMs), lastTimestamp: rfc3339(nowMs) }
    const { host = '' } = this.#parts
    await this.#client.of(event).create(
      {
        metadata: { name },
        involvedObject: referenceTo(object, note.fieldPath),
        reason,
        message,
        type,
        count: 1,
        source: { component: this.#component, ...(host === '' ? {} : { host }) },
        ...times,
        reportingComponent: this.#component,
        reportingInstance: host,
      },
      homeOf(object),
      context,
    )
    this.#told.set(key, { name, count: 1, lastMs: nowMs, writtenMs: nowMs })
  }

  /** False when the event is gone meanwhile: events do not live long. */
  async #countUp(object: ApiObject, told: Told, message: string, context: Context): Promise<boolean> {
    const patch = { count: told.count, message, lastTimestamp: rfc3339(told.lastMs) }
    return this.#patch(object, told.name, patch, event, context)
  }

  async #tellSeries(object: ApiObject, note: EventNote, context: Context): Promise<void> {
    const nowMs = this.#parts.clock.nowMs()
    const { type, reason, action = reason, message } = note
    const key = `${object.metadata.uid} ${type} ${reason} ${action} ${note.fieldPath ?? ''}`
    const told = this.#told.get(key)
    if (told !== undefined && nowMs - told.lastMs <= seriesMsMax) {
      const isWritten = told.count === 1 || nowMs - told.writtenMs >= seriesMsMax
      const again = { ...told, count: told.count + 1, lastMs: nowMs, writtenMs: isWritten ? nowMs : told.writtenMs }
      const series = { count: again.count, lastObservedTime: rfc3339Micro(nowMs) }
      if (!isWritten || (await this.#patch(object, told.name, { series }, eventsEvent, context)))
        return this.#told.set(key, again)
    }
    const name = this.#newName(object)
    await this.#client.of(eventsEvent).create(
      {
        metadata: { name },
        eventTime: rfc3339Micro(nowMs),
        reportingController: this.#component,
        reportingInstance: this.#parts.host ?? this.#component,
        action,
        reason,
        regarding: referenceTo(object, note.fieldPath),
        note: message,
        type,
      },
      homeOf(object),
      context,
    )
    this.#told.set(key, { name, count: 1, lastMs: nowMs, writtenMs: nowMs })
  }

  async #patch(
    object: ApiObject,
    name: string,
    patch: object,
    kind: typeof event | typeof eventsEvent,
    context: Context,
  ): Promise<boolean> {
    try {
      await this.#client.of(kind as typeof event).patch(name, homeOf(object), patch, 'merge', context)
      return true
    } catch (error) {
      if (hasReason(error, 'NotFound')) return false
      throw error
    }
  }

  #newName = ({ metadata: { name } }: ApiObject): string => `${name}.${this.#parts.random.bytes(8).toHex()}`
}

/** Events about objects of the whole cluster stand in the namespace `default`. */
const homeOf = (object: ApiObject): string => namespaceOf(object) || 'default'

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
