// SpanPlaces: in which trace each flow event belongs, and which event caused it. Positions are kept for as many events as
// the flow record has.
import { flowEventsDefault, type FlowEvent, type FlowId } from '../../base/observability/flow-recorder.ts'
import type { Span } from '../../base/observability/span.ts'
import type { SpanPlace } from './otlp-span.ts'

const none = 0 as FlowId
/** How far back a cause is recognised as an ancestor, which needs no link. */
const ancestorsMax = 64

interface KnownEvent {
  /** The first event of its trace. */
  readonly root: FlowId
  readonly parent: FlowId
}

export class SpanPlaces {
  readonly #writeOf: (revision: number) => FlowId
  readonly #known = new Map<FlowId, KnownEvent>()
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
    const known = this.#known.get(id)
    const direct = this.#parentOf(event)
    // An event that is not known any more cannot be a parent: its span may never have been sent.
    const parent = direct !== id && this.#known.has(direct) ? direct : none
    const root = known?.root ?? this.#known.get(parent)?.root ?? id
    this.#known.set(id, { root, parent })
    if (span !== undefined) this.#spans.set(span, id)
    this.#forget()
    const writes = cause.revisions.map((revision) => this.#writeOf(revision))
    const others = [...new Set([...cause.also, ...writes])].flatMap((each) => {
      const other = this.#known.get(each)
      return other === undefined || this.#isAncestor(each, id) ? [] : [{ id: each, root: other.root }]
    })
    const isOutside = cause.span !== undefined && !this.#spans.has(cause.span)
    return {
      place: { root, parent, others, outside: isOutside ? cause.span : undefined },
      isKnown: known !== undefined,
    }
  }

  /** A delivery is caused by the write of its revision; other events name their cause, its span or its revisions. */
  #parentOf({ arrow, revision, cause }: FlowEvent): FlowId {
    if (arrow === 'watch') return this.#writeOf(revision) || cause.event
    if (cause.event !== none) return cause.event
    const bySpan = cause.span === undefined ? undefined : this.#spans.get(cause.span)
    return bySpan ?? this.#writeOf(Math.max(0, ...cause.revisions))
  }

  /** Whether an event is the other one, or among those that led to it directly. */
  #isAncestor(id: FlowId, of: FlowId): boolean {
    let at: FlowId | undefined = of
    for (let step = 0; step < ancestorsMax && at !== undefined && at !== none; step++) {
      if (at === id) return true
      at = this.#known.get(at)?.parent
    }
    return false
  }

  #forget(): void {
    for (const id of this.#known.keys()) {
      if (this.#known.size <= this.#placesMax) break
      this.#known.delete(id)
    }
    for (const span of this.#spans.keys()) {
      if (this.#spans.size <= this.#placesMax) break
      this.#spans.delete(span)
    }
  }
}
