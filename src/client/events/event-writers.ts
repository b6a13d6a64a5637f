// The two APIs for events: core/v1, which most Kubernetes components use and which counts repetitions, and
// events.k8s.io/v1, which records them as a series.
import { rfc3339, rfc3339Micro } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import { event } from '../../api/core/v1/event.ts'
import type { ObjectReference } from '../../api/core/v1/references.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { eventsEvent } from '../../api/events/v1/event.ts'
import type { Client } from '../client.ts'

export interface EventNote {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** The action, for events.k8s.io; the reason when left out. */
  readonly action?: string
  /** The part of the object that the event is about: `spec.containers{web}`. */
  readonly fieldPath?: string
  /** A secondary object, for events.k8s.io. */
  readonly related?: ApiObject
}

/** An Event object and its repetitions. */
export interface Series {
  readonly name: string
  readonly firstMs: number
  lastMs: number
  count: number
  /** When it was last written; undefined before the first write. */
  writtenMs: number | undefined
}

/** A series that has to be written, with its content. */
export interface PendingEvent {
  series: Series
  readonly namespace: string
  readonly about: ObjectReference
  readonly related: ObjectReference | undefined
  readonly note: EventNote
  message: string
}

export interface EventReporter {
  readonly component: string
  readonly host: string | undefined
}

export interface EventWriter {
  /** Whether the next event starts a new series. */
  isExpired(series: Series, nowMs: number): boolean
  isWorthWriting(series: Series, nowMs: number): boolean
  create(pending: PendingEvent, by: EventReporter, client: Client, context: Context): Promise<unknown>
  updateCount(pending: PendingEvent, client: Client, context: Context): Promise<unknown>
}

export const coreEventWriter: EventWriter = {
  isExpired: () => false,
  isWorthWriting: () => true,
  create({ series, namespace, about, note, message }, { component, host = '' }, client, context) {
    const { type, reason } = note
    const { name, firstMs, lastMs, count } = series
    const body = {
      metadata: { name },
      involvedObject: about,
      reason,
      message,
      type,
      count,
      source: { component, ...(host === '' ? {} : { host }) },
      firstTimestamp: rfc3339(firstMs),
      lastTimestamp: rfc3339(lastMs),
      reportingComponent: component,
      reportingInstance: host,
    }
    return client.of(event).create(body, namespace, context)
  },
  updateCount({ series, namespace, message }, client, context) {
    const patch = { count: series.count, message, lastTimestamp: rfc3339(series.lastMs) }
    return client.of(event).patch(series.name, namespace, patch, 'merge', context)
  },
}

/** The server rejects longer notes. */
const noteCharsMax = 1024
const cut = ' ...'
const cutNote = (note: string): string =>
  note.length > noteCharsMax ? note.slice(0, noteCharsMax - cut.length) + cut : note

/** Repetitions within this time belong to one series; a long series is written at this interval. */
export const seriesMsMax = 360_000

const repetitions = ({ count, lastMs }: Series) => ({ series: { count, lastObservedTime: rfc3339Micro(lastMs) } })

export const seriesEventWriter: EventWriter = {
  isExpired: ({ lastMs }, nowMs) => nowMs - lastMs > seriesMsMax,
  isWorthWriting: ({ count, writtenMs }, nowMs) =>
    count <= 2 || writtenMs === undefined || nowMs - writtenMs >= seriesMsMax,
  create({ series, namespace, about, related, note }, { component, host = component }, client, context) {
    const { name, firstMs, count } = series
    const { type, reason, action = reason, message } = note
    const body = {
      metadata: { name },
      eventTime: rfc3339Micro(firstMs),
      reportingController: component,
      reportingInstance: host,
      action,
      reason,
      regarding: about,
      ...(related && { related }),
      note: cutNote(message),
      type,
      ...(count > 1 ? repetitions(series) : {}),
    }
    return client.of(eventsEvent).create(body, namespace, context)
  },
  updateCount: ({ series, namespace }, client, context) =>
    client.of(eventsEvent).patch(series.name, namespace, repetitions(series), 'merge', context),
}
