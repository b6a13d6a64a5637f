// The flow events that the page has received, and the messages that a diagram shows of them.
import type { FlowEvent, FlowId, FlowObject } from '../../../base/observability/flow-recorder.ts'
import { flowTreesOf, isRead } from '../../../flows/flow-graph.ts'
import { messagesOf, type FlowMessage } from '../../../flows/flow-messages.ts'

/** The oldest events are dropped beyond this number. */
const eventsMax = 65_536
const droppedMin = 1_024
/** How late an event of another process may arrive. */
const lateMsMax = 5_000
/** Pairs of participants that are kept for the map. */
const pairsMax = 2_000
/** Messages that are drawn when no object is selected. */
const recentMax = 150
/** Messages of an object that are drawn at most. */
const drawnMax = 1_000

export interface MessageFilter {
  readonly object: FlowObject | undefined
  readonly between: string
  readonly expanded: readonly number[]
  /** Only messages until then. */
  readonly untilMs: number | undefined
  readonly stages: boolean
}

export class FlowRecord {
  /** In the order of their arrival; `#places` has the position of each, counted from the first event ever. */
  #events: FlowEvent[] = []
  #dropped = 0
  readonly #places = new Map<FlowId, number>()
  readonly #pairs = new Map<string, readonly [from: string, to: string]>()
  #newestMs = 0
  #version = 0

  /** Increases with every change. */
  get version(): number {
    return this.#version
  }

  get size(): number {
    return this.#places.size
  }

  /** All pairs of participants between which messages were recorded. */
  get pairs(): Iterable<readonly [from: string, to: string]> {
    return this.#pairs.values()
  }

  /** The participants of messages, in the order in which they were first recorded. */
  participantsOf(messages: readonly FlowMessage[]): string[] {
    const shown = new Set(messages.flatMap(({ event: { from, to } }) => [from, to]))
    return [...new Set([...this.#pairs.values()].flat())].filter((name) => shown.has(name))
  }

  /** The time of the newest event. */
  get newestMs(): number {
    return this.#newestMs
  }

  get oldestMs(): number {
    return this.#events[0]?.atMs ?? 0
  }

  get(id: number): FlowEvent | undefined {
    const place = this.#places.get(id as FlowId)
    return place === undefined ? undefined : this.#events[place - this.#dropped]
  }

  values(): Iterable<FlowEvent> {
    return this.#events
  }

  /** The events within a window before a time. */
  between(sinceMs: number, untilMs: number): FlowEvent[] {
    const found: FlowEvent[] = []
    for (let at = this.#events.length - 1; at >= 0; at--) {
      const event = this.#events[at] as FlowEvent
      // Events of other processes arrive late, so those before them may be newer.
      if (event.atMs < sinceMs - lateMsMax) break
      if (event.atMs > sinceMs && event.atMs <= untilMs) found.push(event)
    }
    return found
  }

  /** An event that is received again replaces the former one at its place. */
  add(events: readonly FlowEvent[]): void {
    this.#version++
    for (const event of events) {
      const place = this.#places.get(event.id)
      if (place === undefined) this.#append(event)
      else this.#events[place - this.#dropped] = event
      this.#newestMs = Math.max(this.#newestMs, event.atMs)
    }
    // A part is dropped at once, because the others are moved.
    if (this.#events.length > eventsMax) this.#drop(this.#events.length - eventsMax + droppedMin)
  }

  /** The first event; 0 if there is none. */
  get oldestId(): number {
    return this.#events[0]?.id ?? 0
  }

  /** Adds events that were recorded before all others, in their order, as far as there is space. */
  addPast(events: readonly FlowEvent[]): void {
    const space = eventsMax - this.#events.length
    const fresh = space <= 0 ? [] : events.filter(({ id }) => !this.#places.has(id)).slice(-space)
    if (fresh.length === 0) return
    this.#version++
    this.#dropped -= fresh.length
    this.#events = [...fresh, ...this.#events]
    for (const [at, event] of fresh.entries()) this.#known(event, this.#dropped + at)
  }

  clear(): void {
    this.#version++
    this.#drop(this.#events.length)
    this.#pairs.clear()
    this.#newestMs = 0
  }

  #append(event: FlowEvent): void {
    this.#known(event, this.#dropped + this.#events.length)
    this.#events.push(event)
  }

  #known(event: FlowEvent, place: number): void {
    this.#places.set(event.id, place)
    const { from, to } = event
    if (from !== to && this.#pairs.size < pairsMax) this.#pairs.set(`${from}\n${to}`, [from, to])
  }

  #drop(count: number): void {
    for (const { id } of this.#events.splice(0, count)) this.#places.delete(id)
    this.#dropped += count
  }

  messages(filter: MessageFilter): FlowMessage[] {
    const { object, between, expanded, untilMs = Infinity, stages } = filter
    const isShown = ({ from, to, atMs }: FlowEvent): boolean => atMs <= untilMs && isBetween(between, from, to)
    if (object === undefined) return this.#recent(isShown)
    const trees = flowTreesOf(this.#until(untilMs), object)
    const options = { fold: true, stages, expanded: new Set(expanded) as ReadonlySet<number> as ReadonlySet<FlowId> }
    return messagesOf(trees, options)
      .filter(({ event }) => isShown(event))
      .slice(0, drawnMax)
  }

  /** The event that caused another one, if it is recorded. */
  causeOf({ arrow, cause, revision }: FlowEvent): FlowEvent | undefined {
    const revisions = arrow === 'watch' ? [revision] : cause.revisions
    if (arrow !== 'watch' && cause.event !== 0) return this.get(cause.event)
    const newest = Math.max(0, ...revisions)
    if (newest === 0) return undefined
    return this.#events.findLast((event) => event.arrow === 'persist' && event.revision === newest)
  }

  effectsOf({ id, arrow, revision }: FlowEvent): FlowEvent[] {
    const isEffect = (event: FlowEvent): boolean =>
      event.cause.event === id || (arrow === 'persist' && event.arrow === 'watch' && event.revision === revision)
    return this.#events.filter(isEffect)
  }

  #until(untilMs: number): readonly FlowEvent[] {
    return untilMs === Infinity ? this.#events : this.#events.filter(({ atMs }) => atMs <= untilMs)
  }

  #recent(isShown: (event: FlowEvent) => boolean): FlowMessage[] {
    const recent: FlowMessage[] = []
    for (let at = this.#events.length - 1; at >= 0 && recent.length < recentMax; at--) {
      const event = this.#events[at] as FlowEvent
      const isBackground =
        event.object?.resource === 'leases' || event.object?.resource === 'events' || isRead(event.what)
      if (!isBackground && isShown(event)) recent.push({ event, count: 1, isInferred: false })
    }
    return recent.toReversed()
  }
}

/** Whether a message is of a participant, or between two: `a`, `a>b`. Every message matches an empty filter. */
export function isBetween(between: string, from: string, to: string): boolean {
  if (between === '') return true
  const [a = '', b] = between.split('>', 2)
  const isOf = (name: string, participant: string): boolean =>
    participant === name || participant.startsWith(`${name}/`)
  if (b === undefined) return isOf(a, from) || isOf(a, to)
  return (isOf(a, from) && isOf(b, to)) || (isOf(b, from) && isOf(a, to))
}
