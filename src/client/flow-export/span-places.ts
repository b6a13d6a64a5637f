// SpanPlaces: in which trace each flow event belongs, and which event caused it. Positions are kept for as many events as
// the flow record has.
import { flowEventsDefault, type FlowEvent, type FlowId, type Span } from '../../base/observability/flow-recorder.ts'
import type { SpanPlace } from './otlp-span.ts'

const none = 0 as FlowId

export class SpanPlaces {
  readonly #writeOf: (revision: number) => FlowId
  /** The first event of the trace of each known event. */
  readonly #roots = new Map<FlowId, FlowId>()
  /** Events that other processes reported. */
  readonly #spans = new Map<Span, FlowId>()
  readonly #placesMax: number

  /** `writeOf` is the event that wrote a revision. */
  constructor(writeOf: (revision: number) => FlowId, placesMax = flowEventsDefault) {
    this.#writeOf = writeOf
    this.#placesMax = placesMax
  }

  /** The place of an event, and whether it was already known. */
  place(event: FlowEvent): { readonly place: SpanPlace; readonly isKnown: boolean } {
    const { id, span, cause } = event
    const isKnown = this.#roots.has(id)
    const direct = this.#parentOf(event)
    // An event that is not known any more cannot be a parent: its span may never have been sent.
    const parent = direct !== id && this.#roots.has(direct) ? direct : none
    const root = this.#roots.get(isKnown ? id : parent) ?? id
    this.#roots.set(id, root)
    if (span !== undefined) this.#spans.set(span, id)
    this.#forget()
    const others = cause.also.flatMap((each) => {
      const otherRoot = this.#roots.get(each)
      return otherRoot === undefined ? [] : [{ id: each, root: otherRoot }]
    })
    const isOutside = cause.span !== undefined && !this.#spans.has(cause.span)
    return { place: { root, parent, others, outside: isOutside ? cause.span : undefined }, isKnown }
  }

  /** A delivery is caused by the write of its revision; other events name their cause, its span or its revisions. */
  #parentOf({ arrow, revision, cause }: FlowEvent): FlowId {
    if (arrow === 'watch') return this.#writeOf(revision) || cause.event
    if (cause.event !== none) return cause.event
    const bySpan = cause.span === undefined ? undefined : this.#spans.get(cause.span)
    return bySpan ?? this.#writeOf(Math.max(0, ...cause.revisions))
  }

  #forget(): void {
    for (const id of this.#roots.keys()) {
      if (this.#roots.size <= this.#placesMax) break
      this.#roots.delete(id)
    }
    for (const span of this.#spans.keys()) {
      if (this.#spans.size <= this.#placesMax) break
      this.#spans.delete(span)
    }
  }
}
