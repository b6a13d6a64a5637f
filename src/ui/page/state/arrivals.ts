// The messages that arrived most recently, and when, in the time of the page: the map shows them on their way.
import type { FlowEvent } from '../../../base/observability/flow-recorder.ts'

export interface Arrival {
  readonly event: FlowEvent
  readonly atMs: number
}

/** Beyond this, the oldest messages are not shown moving. */
const arrivalsMax = 300
/** As many of the messages that arrive together move, so that each of them reaches its end before it is replaced by others. */
const togetherMax = 12
/** Messages that arrive together move at their distance in time, up to this. */
const distanceMsMax = 100

export class Arrivals {
  #recent: Arrival[] = []

  /** An event that is received again does not move again. */
  add(events: readonly FlowEvent[], isKnown: (event: FlowEvent) => boolean, nowMs: number): void {
    const fresh = events.filter((event) => event.from !== event.to && !isKnown(event))
    const newestMs = fresh.reduce((newest, { atMs }) => Math.max(newest, atMs), 0)
    const moving = Array.from({ length: Math.min(fresh.length, togetherMax) }, (_, index): Arrival => {
      const event = fresh[Math.floor((index * fresh.length) / Math.min(fresh.length, togetherMax))] as FlowEvent
      return { event, atMs: nowMs - Math.min(distanceMsMax, newestMs - event.atMs) }
    })
    this.#recent = [...this.#recent, ...moving].slice(-arrivalsMax)
  }

  since(atMs: number): readonly Arrival[] {
    return this.#recent.filter((arrival) => arrival.atMs > atMs)
  }
}
