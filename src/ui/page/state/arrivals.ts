// The messages that arrived most recently, and when, in the time of the page: the map shows them on their way.
import type { FlowEvent } from '../../../base/observability/flow-recorder.ts'

export interface Arrival {
  readonly event: FlowEvent
  readonly atMs: number
}

/** Beyond this, the oldest messages are not shown moving. */
const arrivalsMax = 200

export class Arrivals {
  #recent: Arrival[] = []

  /** An event that is received again does not move again. */
  add(events: readonly FlowEvent[], isKnown: (event: FlowEvent) => boolean, nowMs: number): void {
    const fresh = events.filter((event) => event.from !== event.to && !isKnown(event))
    this.#recent = [...this.#recent, ...fresh.map((event) => ({ event, atMs: nowMs }))].slice(-arrivalsMax)
  }

  since(atMs: number): readonly Arrival[] {
    return this.#recent.filter((arrival) => arrival.atMs > atMs)
  }
}
