// The flow events that the page has received, and the messages that a diagram shows of them.
import { isBackground } from '../../../base/observability/background-events.ts'
import type { FlowEvent, FlowId, FlowObject } from '../../../base/observability/flow-recorder.ts'
import { flowTreesOf } from '../../../flows/flow-graph.ts'
import { messagesOf, type FlowMessage } from '../../../flows/flow-messages.ts'
import { recentMax } from '../source/source.ts'

/** The oldest events are dropped beyond this number. */
const eventsMax = 65_536
const droppedMin = 1_024
/** How late an event of another process may arrive. */
const lateMsMax = 5_000
/** Pairs of participants that are kept for the map. */
const pairsMax = 2_000
/** Messages of an object that are drawn at most. */
const drawnMax = 1_000

export interface MessageFilter {
  readonly object: FlowObject | undefined
  /** Without an object: only messages about objects of this namespace; empty for all. */
  readonly namespace: string
  readonly between: string
  readonly expanded: readonly number[]
  /** Only messages until then. */
  readonly untilMs: number | undefined
  readonly stages: boolean
}

export class FlowRecord {
  /** In the order of their ids, which is the order in which they were recorded. */
  #events: FlowEvent[] = []
  readonly #pairs = new Map<string, readonly [from: string, to: string]>()
  #newestMs = 0
  #version = 0

  /** Increases with every change. */
  get version(): number {
    return this.#version
  }

  get size(): number {
    return this.#events.length
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
    const event = this.#events[this.#placeOf(id)]
    return event?.id === id ? event : undefined
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
      if (event.id > (this.#events.at(-1)?.id ?? 0)) this.#events.push(event)
      else this.#put(event)
      this.#connect(event)
      this.#newestMs = Math.max(this.#newestMs, event.atMs)
    }
    // A part is dropped at once, because the others are moved.
    if (this.#events.length > eventsMax) this.#events.splice(0, this.#events.length - eventsMax + droppedMin)
  }

  /** Adds events that were recorded earlier, as far as there is space. Those that are known are newer already. */
  addPast(events: readonly FlowEvent[]): void {
    const space = eventsMax - this.#events.length
    const fresh = space <= 0 ? [] : events.filter(({ id }) => this.get(id) === undefined).slice(-space)
    if (fresh.length === 0) return
    this.#version++
    this.#events = [...fresh, ...this.#events].toSorted((a, b) => a.id - b.id)
    for (const event of fresh) this.#connect(event)
    this.#newestMs = Math.max(this.#newestMs, fresh.at(-1)?.atMs ?? 0)
  }

  clear(): void {
    this.#version++
    this.#events = []
    this.#pairs.clear()
    this.#newestMs = 0
  }

  /** The place of the first event whose id is not below `id`. */
  #placeOf(id: number): number {
    let low = 0
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#events[middle] as FlowEvent).id < id) low = middle + 1
      else high = middle
    }
    return low
  }

  /** An event that has ended may be older than others, and unknown if it was skipped. */
  #put(event: FlowEvent): void {
    const place = this.#placeOf(event.id)
    this.#events.splice(place, this.#events[place]?.id === event.id ? 1 : 0, event)
  }

  #connect({ from, to }: FlowEvent): void {
    if (from !== to && this.#pairs.size < pairsMax) this.#pairs.set(`${from}\n${to}`, [from, to])
  }

  messages(filter: MessageFilter): FlowMessage[] {
    const { object, namespace, between, expanded, untilMs = Infinity, stages } = filter
    const isShown = ({ from, to, atMs }: FlowEvent): boolean => atMs <= untilMs && isBetween(between, from, to)
    if (object === undefined)
      return this.#recent((event) => (namespace === '' || event.object?.namespace === namespace) && isShown(event))
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
      if (!isBackground(event.what, event.object) && isShown(event)) recent.push({ event, count: 1, isInferred: false })
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
