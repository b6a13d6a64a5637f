// SchedulingEvents: tells what happened to a pod as Events of events.k8s.io. The same event about the same version of
// a pod becomes a series. Telling is best effort: a failed write is logged and forgotten.
import { rfc3339Micro, type Clock } from '../base/clock.ts'
import type { Context } from '../base/context.ts'
import { errorText, type Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import type { Pod } from '../api/core/v1/pod.ts'
import { eventsEvent, type Event } from '../api/events/v1/event.ts'
import { namespaceOf } from '../api/object.ts'
import type { Client } from '../client/client.ts'
import type { PodNote } from './framework.ts'

export interface SchedulingEventsParts {
  readonly client: Client
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

/** Events remembered for series; the oldest is forgotten first. */
const rememberedMax = 4096
const noteCharsMax = 1024

export class SchedulingEvents {
  readonly #parts: SchedulingEventsParts
  readonly #remembered = new Map<string, Pick<Event, 'metadata' | 'series'>>()

  constructor(parts: SchedulingEventsParts) {
    this.#parts = parts
  }

  async tell(schedulerName: string, pod: Pod, note: PodNote, context: Context): Promise<void> {
    const { uid, resourceVersion } = pod.metadata
    const key = [schedulerName, uid, resourceVersion, note.type, note.reason, note.action].join(' ')
    const earlier = this.#remembered.get(key)
    this.#remembered.delete(key)
    try {
      const told =
        earlier === undefined
          ? await this.#create(schedulerName, pod, note, context)
          : await this.#countUp(earlier, namespaceOf(pod), context)
      this.#remembered.set(key, { metadata: told.metadata, ...(told.series && { series: told.series }) })
      if (this.#remembered.size > rememberedMax) this.#remembered.delete(this.#remembered.keys().next().value ?? '')
    } catch (error) {
      if (!context.signal.aborted)
        this.#parts.log.warn('an event could not be told', { reason: note.reason, error: errorText(error) })
    }
  }

  #create(schedulerName: string, pod: Pod, note: PodNote, context: Context): Promise<Event> {
    const { client, clock, random } = this.#parts
    const { type, reason, action, message, related } = note
    const namespace = namespaceOf(pod)
    const event = {
      metadata: { name: `${pod.metadata.name}.${random.bytes(8).toHex()}`, namespace },
      eventTime: rfc3339Micro(clock.nowMs()),
      reportingController: schedulerName,
      reportingInstance: `${schedulerName}-coxswain`,
      action,
      reason,
      regarding: referenceTo(pod),
      ...(related && { related: referenceTo(related) }),
      note: message.length > noteCharsMax ? message.slice(0, noteCharsMax) : message,
      type,
    }
    return client.of(eventsEvent).create(event, namespace, context)
  }

  #countUp({ metadata, series }: Pick<Event, 'metadata' | 'series'>, namespace: string, context: Context) {
    const lastObservedTime = rfc3339Micro(this.#parts.clock.nowMs())
    const patch = { series: { count: (series?.count ?? 1) + 1, lastObservedTime } }
    return this.#parts.client.of(eventsEvent).patch(metadata.name, namespace, patch, 'merge', context)
  }
}

const referenceTo = ({ apiVersion, kind, metadata: { namespace, name, uid, resourceVersion } }: Pod) => ({
  apiVersion,
  kind,
  name,
  uid,
  resourceVersion,
  ...(namespace !== undefined && { namespace }),
})
