// The diagram that the page shows: the messages of the selected object, or of what happens now, until the selected time.
import type { FlowId } from '../../../base/observability/flow-recorder.ts'
import { causeChain } from '../../../flows/cause-chain.ts'
import { messageShape } from '../../../flows/fold-branches.ts'
import { drawnMessages, type DrawnMessage } from '../../../flows/svg/drawn-message.ts'
import type { FlowRecord, ShownMessages } from '../model/flows/flow-record.ts'
import type { PageLocation } from '../model/permalink.ts'
import type { PacedPage } from './draw-pace.ts'
import { PacedValue } from './paced-value.ts'

export interface Diagram extends Pick<ShownMessages, 'messages' | 'hidden' | 'groups' | 'lifelines'> {
  readonly drawn: readonly DrawnMessage[]
  /** The messages that led to the selected one or followed from it; undefined if none is selected. */
  readonly chain: ReadonlySet<number> | undefined
}

/** The part of the page's state that a diagram depends on. */
export interface DiagramState {
  readonly location: PageLocation
  readonly record: FlowRecord
  readonly showsStages: boolean
}

/** The diagram that is shown. The flow of an object is computed from all events that the page has. */
export class DiagramCache {
  readonly #app: DiagramState & PacedPage
  readonly #diagram: PacedValue<Diagram>

  constructor(app: DiagramState & PacedPage) {
    this.#app = app
    this.#diagram = new PacedValue(app)
  }

  get(): Diagram {
    const app = this.#app
    const { object, namespace, between, expanded, revision, event } = app.location
    const { unfolded, kind, search, onlyFailures, showsBackground } = app.location
    const filters = [between, kind, search, onlyFailures, showsBackground, unfolded]
    const key = JSON.stringify([object, namespace, filters, expanded, revision, event, app.showsStages])
    return this.#diagram.get(key, app.record.version, () => diagramOf(app))
  }
}

/** The messages that the page shows. */
export function diagramOf(app: DiagramState): Diagram {
  const { revision, unfolded } = app.location
  const shown = app.record.messages({
    ...app.location,
    unfolded: new Set(unfolded),
    untilMs: untilMs(app, revision),
    stages: app.showsStages,
  })
  const { messages, hidden, groups, lifelines } = shown
  return { messages, drawn: drawnMessages(messages), lifelines, hidden, groups, chain: chainOf(app, shown) }
}

/** A message that represents similar ones belongs to the chain with each of them. */
function chainOf({ record, location }: DiagramState, { messages, folded }: ShownMessages): Diagram['chain'] {
  const { event: id } = location
  const selected = id === undefined ? undefined : record.get(id)
  if (selected === undefined) return undefined
  const ids = causeChain(record.values(), selected.id)
  const shapes = new Set([...ids].flatMap((each) => shapeOf(record, each, folded)))
  return new Set(
    messages.flatMap(({ event, count }) =>
      ids.has(event.id) || (count > 1 && shapes.has(messageShape(event))) ? [event.id] : [],
    ),
  )
}

function shapeOf(record: FlowRecord, id: FlowId, folded: ShownMessages['folded']): readonly string[] {
  const event = record.get(id)
  return event === undefined ? [] : [messageShape(folded(event))]
}

/** The time that the page shows: that of the selected revision, or of the newest event. */
export const shownMs = (app: DiagramState): number => untilMs(app, app.location.revision) ?? app.record.newestMs

/** The time of the write of a revision. */
function untilMs(app: DiagramState, revision: number | undefined): number | undefined {
  if (revision === undefined) return undefined
  let ms: number | undefined
  for (const event of app.record.values()) if (event.arrow === 'persist' && event.revision <= revision) ms = event.atMs
  return ms ?? 0
}
