// EventRecorder: tells what happened to an object as Event objects. Telling never waits: what is told is written after all
// else that is to be done now, and what repeats itself before that is written once. It is best effort: a failed write is
// logged and forgotten.
import type { Clock } from '../base/clock.ts'
import { context, type Context } from '../base/context.ts'
import { mergeCauses, type Cause } from '../base/flow.ts'
import { leisure } from '../base/leisure.ts'
import { errorText, type Log } from '../base/log.ts'
import { offAbort, onAbort } from '../base/on-abort.ts'
import type { Random } from '../base/random.ts'
import type { ObjectReference } from '../api/core/v1/references.ts'
import { namespaceOf, type ApiObject } from '../api/object.ts'
import { hasReason } from '../api/status-error.ts'
import type { Client } from './client.ts'
import { EventCorrelation, type Said } from './event-correlation.ts'
import { coreForm, seriesForm, type EventForm, type EventNote, type Series, type Telling } from './event-forms.ts'

export type { EventNote } from './event-forms.ts'

export interface EventRecorderParts {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** On which node the component runs, or which of several it is. */
  readonly host?: string
  readonly form?: 'core/v1' | 'events.k8s.io/v1'
}

/** Events that wait to be sorted or written; what comes beyond them is not told. */
const waitingMax = 1 << 16
/** Writes under way at a time: a store that commits in groups takes them together. */
const writesMax = 16
/** Causes that are remembered of one telling. */
const causesMax = 16

interface Heard {
  readonly object: ApiObject
  readonly note: EventNote
  readonly cause: Cause
  readonly atMs: number
}

interface Waiting extends Telling {
  readonly causes: Cause[]
}

export class EventRecorder {
  readonly #client: Client
  readonly #component: string
  readonly #parts: EventRecorderParts
  readonly #form: EventForm
  readonly #correlation = new EventCorrelation()
  /** What was told and not yet looked at. */
  #heard: Heard[] = []
  /** What is to be written, in the order in which it was first told. */
  readonly #waiting = new Map<Said, Waiting>()
  #wake = () => {}
  /** How many names were given, in the last digits of each. */
  #named = 0

  constructor(client: Client, component: string, parts: EventRecorderParts) {
    this.#client = client
    this.#component = component
    this.#parts = parts
    this.#form = parts.form === 'events.k8s.io/v1' ? seriesForm : coreForm
  }

  /** Costs whoever tells it next to nothing: what becomes of it is found out at leisure. */
  record(object: ApiObject, note: EventNote, { cause }: Pick<Context, 'cause'>): void {
    if (this.#heard.length + this.#waiting.size >= waitingMax) return
    this.#heard.push({ object, note, cause, atMs: this.#parts.clock.nowMs() })
    this.#wake()
  }

  /** Writes what is told, until the signal ends it. */
  async run(signal: AbortSignal): Promise<void> {
    // Of one series there is one write at a time.
    const writes = new Map<Said, Promise<void>>()
    while (!signal.aborted) {
      if (this.#heard.length === 0 && this.#waiting.size === 0) await this.#news(signal)
      if (signal.aborted) break
      // Whoever reads events reads them later than the objects that they are about.
      await leisure(this.#parts.clock)
      this.#sortHeard()
      const next = this.#waiting.keys().find((said) => !writes.has(said))
      if (next !== undefined)
        writes.set(
          next,
          this.#write(next, signal).finally(() => writes.delete(next)),
        )
      if (writes.size >= writesMax || (next === undefined && this.#waiting.size > 0))
        await Promise.race(writes.values())
    }
    await Promise.all(writes.values())
  }

  async #news(signal: AbortSignal): Promise<void> {
    const woken = Promise.withResolvers<void>()
    this.#wake = woken.resolve
    onAbort(signal, woken.resolve)
    await woken.promise
    offAbort(signal, woken.resolve)
    this.#wake = () => {}
  }

  #sortHeard(): void {
    const heard = this.#heard
    this.#heard = []
    for (const one of heard) this.#sort(one)
  }

  #sort({ object, note, cause, atMs }: Heard): void {
    const { said, message, isHeard } = this.#correlated(object, note, atMs)
    if (!isHeard) return
    const known = said.series
    const series =
      known === undefined || this.#form.isOver(known, atMs)
        ? { name: this.#newName(object.metadata), firstMs: atMs, lastMs: atMs, count: 0, writtenMs: undefined }
        : known
    series.count++
    series.lastMs = atMs
    said.series = series
    if (!this.#form.isWorthWriting(series, atMs)) return
    const waiting = this.#waiting.get(said)
    if (waiting === undefined) this.#waiting.set(said, { ...tellingOf(object, note, series, message), causes: [cause] })
    else {
      waiting.series = series
      waiting.message = message
      if (waiting.causes.length < causesMax) waiting.causes.push(cause)
    }
  }

  #correlated(object: ApiObject, note: EventNote, nowMs: number) {
    const { type, reason, action = reason, fieldPath = '', message, related } = note
    const { uid, resourceVersion } = object.metadata
    if (this.#form === coreForm)
      return this.#correlation.correlate(uid, `${type} ${reason} ${fieldPath}`, message, nowMs)
    // What is told of another version is another series.
    const topic = `${type} ${reason} ${action} ${fieldPath} ${related?.metadata.uid ?? ''}`
    return { said: this.#correlation.series(`${uid} ${resourceVersion}`, topic, nowMs), message, isHeard: true }
  }

  async #write(said: Said, signal: AbortSignal): Promise<void> {
    const telling = this.#waiting.get(said)
    this.#waiting.delete(said)
    if (telling === undefined) return
    try {
      await this.#send(said, telling, context(signal, mergeCauses(telling.causes)))
    } catch (error) {
      if (signal.aborted) return
      said.series = undefined
      this.#parts.log.warn('an event could not be told', { reason: telling.note.reason, error: errorText(error) })
    }
  }

  async #send(said: Said, telling: Telling, ctx: Context): Promise<void> {
    const { series } = telling
    const isRepeated = series.writtenMs !== undefined
    series.writtenMs = this.#parts.clock.nowMs()
    if (isRepeated) {
      try {
        await this.#form.countUp(telling, this.#client, ctx)
        return
      } catch (error) {
        // Events do not live long: what is gone is told anew.
        if (!hasReason(error, 'NotFound')) throw error
        telling.series = { ...series, name: this.#newName(telling.about), firstMs: series.lastMs, count: 1 }
        said.series = telling.series
      }
    }
    const { host } = this.#parts
    await this.#form.create(telling, { component: this.#component, host }, this.#client, ctx)
  }

  /** By time, as upstream's: events of one second are listed, and so described, in the order in which they were told. */
  #newName = ({ name = '' }: { readonly name?: string }): string => {
    const { clock, random } = this.#parts
    this.#named = (this.#named + 1) & 0xffff
    const order = this.#named.toString(16).padStart(4, '0')
    return `${name}.${Math.floor(clock.nowMs()).toString(16)}${order}${random.bytes(8).toHex().slice(0, 8)}`
  }
}

const tellingOf = (object: ApiObject, note: EventNote, series: Series, message: string): Telling => ({
  series,
  // Events about objects of the whole cluster stand in the namespace `default`.
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
