// The flow events that the page has received, and the messages that a diagram shows of them.
import type { FlowEvent, FlowId, FlowObject } from '../../../base/observability/flow-recorder.ts'
import { flowTreesOf, isRead } from '../../../flows/flow-graph.ts'
import { messagesOf, type FlowMessage } from '../../../flows/flow-messages.ts'

/** The oldest events are dropped beyond this number. */
const eventsMax = 65_536
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
  readonly #events = new Map<FlowId, FlowEvent>()
  #newestMs = 0

  get size(): number {
    return this.#events.size
  }

  /** The time of the newest event. */
  get newestMs(): number {
    return this.#newestMs
  }

  get oldestMs(): number {
    return this.#events.values().next().value?.atMs ?? 0
  }

  get(id: number): FlowEvent | undefined {
    return this.#events.get(id as FlowId)
  }

  values(): IterableIterator<FlowEvent> {
    return this.#events.values()
  }

  /** An event that is received again replaces the former one at its place. */
  add(events: readonly FlowEvent[]): void {
    for (const event of events) {
      this.#events.set(event.id, event)
      this.#newestMs = Math.max(this.#newestMs, event.atMs)
    }
    for (const id of this.#events.keys()) {
      if (this.#events.size <= eventsMax) break
      this.#events.delete(id)
    }
  }

  clear(): void {
    this.#events.clear()
    this.#newestMs = 0
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
    if (arrow !== 'watch' && cause.event !== 0) return this.#events.get(cause.event)
    const newest = Math.max(0, ...revisions)
    if (newest === 0) return undefined
    for (const event of this.#events.values()) if (event.arrow === 'persist' && event.revision === newest) return event
    return undefined
  }

  effectsOf({ id, arrow, revision }: FlowEvent): FlowEvent[] {
    const isEffect = (event: FlowEvent): boolean =>
      event.cause.event === id || (arrow === 'persist' && event.arrow === 'watch' && event.revision === revision)
    return [...this.#events.values()].filter(isEffect)
  }

  *#until(untilMs: number): Generator<FlowEvent> {
    for (const event of this.#events.values()) if (event.atMs <= untilMs) yield event
  }

  #recent(isShown: (event: FlowEvent) => boolean): FlowMessage[] {
    const recent: FlowMessage[] = []
    const events = [...this.#events.values()]
    for (let at = events.length - 1; at >= 0 && recent.length < recentMax; at--) {
      const event = events[at] as FlowEvent
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
