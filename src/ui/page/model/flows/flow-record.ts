// The flow events that the page has received, and the messages that a diagram shows of them.
import type { FlowEvent, FlowId, FlowObject } from '../../../../base/observability/flow-recorder.ts'
import { flowTreesOf } from '../../../../flows/flow-graph.ts'
import { foldedEvent, type ShareLifelines } from '../../../../flows/fold-participants.ts'
import { messagesOf, type FlowMessage } from '../../../../flows/flow-messages.ts'
import { recentMax } from '../../source/source.ts'
import {
  inReadingOrder,
  lifelineGroups,
  unfoldedFor,
  type LifelineGroup,
  type LifelineGroups,
} from './lifeline-groups.ts'
import { isAdmitted, type MessageFilter } from './message-filter.ts'
import { recentMessages, type HiddenKind } from './recent-messages.ts'
import { hub } from '../map-columns.ts'

/** The oldest events are dropped beyond this number. */
const eventsMax = 65_536
const droppedMin = 1_024
/** How late an event of another process may arrive. */
const lateMsMax = 5_000
/** Pairs of participants that are kept for the map. */
const pairsMax = 2_000
/** Resources that a filter offers. */
const kindsMax = 500
/** Messages of an object that are drawn at most. */
const drawnMax = 1_000

/** How the API server names itself as a client of its own. */
const hubAsClient = 'apiserver'

export interface ShownMessages {
  /** With the lifelines as participants. */
  readonly messages: readonly FlowMessage[]
  /** How many messages are hidden, by their kind. */
  readonly hidden: ReadonlyMap<HiddenKind, number>
  readonly groups: readonly LifelineGroup[]
  /** In their order; empty if it is that of the messages. */
  readonly lifelines: readonly string[]
  /** The event as a message of the diagram. */
  readonly folded: (event: FlowEvent) => FlowEvent
}

export class FlowRecord {
  /** In the order of their ids, which is the order in which they were recorded. */
  #events: FlowEvent[] = []
  readonly #pairs = new Map<string, readonly [from: string, to: string]>()
  readonly #kinds = new Set<string>()
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

  /** All participants, in the order in which they were first recorded. */
  get participants(): ReadonlySet<string> {
    return new Set([...this.#pairs.values()].flat())
  }

  /** The resources of all objects about which messages were recorded. */
  get kinds(): Iterable<string> {
    return this.#kinds
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
    for (const received of events) {
      const event = withOneHub(received)
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
    const unknown = space <= 0 ? [] : events.filter(({ id }) => this.get(id) === undefined)
    const fresh = unknown.slice(-space).map(withOneHub)
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
    this.#kinds.clear()
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

  #connect({ from, to, object }: FlowEvent): void {
    if (object !== undefined && this.#kinds.size < kindsMax) this.#kinds.add(object.resource)
    if (from !== to && this.#pairs.size < pairsMax) this.#pairs.set(`${from}\n${to}`, [from, to])
  }

  messages(filter: MessageFilter): ShownMessages {
    const { object, between, unfolded } = filter
    const separate = unfoldedFor(unfolded, between)
    if (object !== undefined) return this.#flowOf(object, filter, separate)
    const { participants } = this
    const { groups, lifelineOf } = lifelineGroups(participants, separate)
    const folded = (event: FlowEvent): FlowEvent => ({
      ...event,
      from: lifelineOf(event.from),
      to: lifelineOf(event.to),
    })
    const recent = recentMessages(this.#events, filter, recentMax)
    const messages = recent.messages.map((message) => ({ ...message, event: folded(message.event) }))
    const shown = new Set(messages.flatMap(({ event: { from, to } }) => [from, to]))
    const lifelines = new Set(inReadingOrder(participants).map(lifelineOf))
    return {
      messages,
      hidden: recent.hidden,
      groups,
      lifelines: [...lifelines].filter((name) => shown.has(name)),
      folded,
    }
  }

  #flowOf(object: FlowObject, filter: MessageFilter, unfolded: ReadonlySet<string>): ShownMessages {
    const { stages, expanded } = filter
    let lifelines: LifelineGroups = { groups: [], lifelineOf: (name) => name }
    let participants: ReadonlySet<string> = new Set()
    const share: ShareLifelines = (all) => {
      participants = all
      lifelines = lifelineGroups(all, unfolded)
      return lifelines.lifelineOf
    }
    const trees = flowTreesOf(this.#until(filter.untilMs), object)
    const own = new Set(expanded) as ReadonlySet<number> as ReadonlySet<FlowId>
    const messages = messagesOf(trees, { fold: true, stages, expanded: own, share })
    const { groups, lifelineOf } = lifelines
    const prefixes = new Map(groups.map(({ prefix, label }) => [label, `${prefix}/*`]))
    const unlabelled = (name: string): string => prefixes.get(name) ?? name
    return {
      messages: messages
        .filter(({ event }) => isAdmitted(filter, { ...event, from: unlabelled(event.from), to: unlabelled(event.to) }))
        .slice(0, drawnMax),
      hidden: new Map(),
      groups,
      lifelines: [],
      folded: foldedEvent(participants, lifelineOf),
    }
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

  #until(untilMs = Infinity): readonly FlowEvent[] {
    return untilMs === Infinity ? this.#events : this.#events.filter(({ atMs }) => atMs <= untilMs)
  }
}

/** The API server is one participant, also where it is a client of its own. */
function withOneHub(event: FlowEvent): FlowEvent {
  if (event.from !== hubAsClient && event.to !== hubAsClient) return event
  const named = (name: string): string => (name === hubAsClient ? hub : name)
  return { ...event, from: named(event.from), to: named(event.to) }
}
