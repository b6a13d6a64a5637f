// EventRecorder: tells what happened to an object as Event objects. The same event again counts up instead.
// Telling is best effort: a failed write is logged and forgotten.
import type { Clock } from '../base/clock.ts'
import { rfc3339 } from '../base/clock.ts'
import type { Context } from '../base/context.ts'
import { errorText, type Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import { event, type Event } from '../api/core/v1/event.ts'
import { namespaceOf, type ApiObject } from '../api/object.ts'
import type { Client } from './client.ts'

export interface EventNote {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/** Events remembered for counting up; the oldest is forgotten first. */
const rememberedMax = 4096

export class EventRecorder {
  readonly #client: Client
  readonly #clock: Clock
  readonly #log: Log
  readonly #component: string
  readonly #host: string
  readonly #remembered = new Map<string, Event>()
  readonly #random: Random

  constructor(client: Client, component: string, parts: { clock: Clock; random: Random; log: Log; host?: string }) {
    this.#client = client
    this.#component = component
    this.#clock = parts.clock
    this.#log = parts.log
    this.#random = parts.random
    this.#host = parts.host ?? ''
  }

  async record(object: ApiObject, note: EventNote, context: Context): Promise<void> {
    const key = `${object.metadata.uid} ${note.type} ${note.reason} ${note.message}`
    const earlier = this.#remembered.get(key)
    this.#remembered.delete(key)
    try {
      this.#remembered.set(
        key,
        earlier === undefined ? await this.#create(object, note, context) : await this.#countUp(earlier, context),
      )
      if (this.#remembered.size > rememberedMax) this.#remembered.delete(this.#remembered.keys().next().value ?? '')
    } catch (error) {
      if (!context.signal.aborted)
        this.#log.warn('an event could not be told', { reason: note.reason, error: errorText(error) })
    }
  }

  #create(object: ApiObject, { type, reason, message }: EventNote, context: Context): Promise<Event> {
    const now = this.#clock.nowMs()
    const namespace = namespaceOf(object) || 'default'
    const { name, uid, resourceVersion } = object.metadata
    const { kind, apiVersion } = object
    const suffix = this.#random.bytes(8).toHex()
    const source = { component: this.#component, ...(this.#host === '' ? {} : { host: this.#host }) }
    const involvedObject = {
      kind,
      apiVersion,
      name,
      uid,
      resourceVersion,
      ...(namespaceOf(object) === '' ? {} : { namespace }),
    }
    const times = { firstTimestamp: rfc3339(now), lastTimestamp: rfc3339(now) }
    return this.#client.of(event).create(
      {
        metadata: { name: `${name}.${suffix}`, namespace },
        involvedObject,
        reason,
        message,
        type,
        count: 1,
        source,
        ...times,
        reportingComponent: this.#component,
        reportingInstance: this.#host,
      },
      namespace,
      context,
    )
  }

  #countUp({ metadata, count = 1 }: Event, context: Context): Promise<Event> {
    const patch = { count: count + 1, lastTimestamp: rfc3339(this.#clock.nowMs()) }
    return this.#client.of(event).patch(metadata.name, namespaceOf({ metadata } as ApiObject), patch, 'merge', context)
  }
}
