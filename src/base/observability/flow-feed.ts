// FlowFeed: the events that were recorded or finished since the last read. It stores positions in the ring, not events,
// so a slow reader misses events that the ring has overwritten.
import { flowEventsDefault, type FlowEvent, type FlowId, type FlowRecorder } from './flow-recorder.ts'
import { unlessAborted } from '../async/unless-aborted.ts'

/** Beyond this number of unread finished events, the reader is not notified of them. */
const endedMax = flowEventsDefault

export class FlowFeed implements Disposable {
  readonly #flow: FlowRecorder
  readonly #unlisten: () => void
  /** Events that were read before they finished and have finished since. */
  readonly #ended = new Set<FlowId>()
  #next: FlowId
  #wake: PromiseWithResolvers<void> | undefined

  constructor(flow: FlowRecorder, since: FlowId = flow.oldest) {
    this.#flow = flow
    this.#next = since
    this.#unlisten = flow.listen((id) => this.#onEvent(id))
  }

  /** Up to `max` events, finished ones first. */
  take(max: number): FlowEvent[] {
    const events: FlowEvent[] = []
    for (const id of this.#ended) {
      if (events.length === max) return events
      this.#ended.delete(id)
      const event = this.#flow.get(id)
      if (event !== undefined) events.push(event)
    }
    for (const event of this.#flow.events(this.#next)) {
      if (events.length === max) break
      events.push(event)
      this.#next = (event.id + 1) as FlowId
    }
    return events
  }

  /** Skips the oldest unread events, so that at most `max` remain, and returns how many have been lost or skipped. */
  keepNewest(max: number): number {
    const first = Math.max(this.#flow.oldest, this.#flow.last - max + 1)
    const skipped = Math.max(0, first - this.#next)
    this.#next = Math.max(this.#next, first) as FlowId
    return skipped
  }

  /** Whether there are no unread events. */
  get isDrained(): boolean {
    return this.#ended.size === 0 && this.#next > this.#flow.last
  }

  /** Resolves when there are unread events. */
  async changed(signal: AbortSignal): Promise<void> {
    if (!this.isDrained) return
    this.#wake ??= Promise.withResolvers()
    await unlessAborted(this.#wake.promise, signal)
  }

  [Symbol.dispose](): void {
    this.#unlisten()
  }

  #onEvent(id: FlowId): void {
    if (id < this.#next) this.#ended.add(id)
    if (this.#ended.size > endedMax) this.#ended.clear()
    this.#wake?.resolve()
    this.#wake = undefined
  }
}
