// The diagram that the page shows: the messages of the selected object, or of what happens now, until the selected time.
import type { FlowMessage } from '../../../flows/flow-messages.ts'
import { drawnMessages, type DrawnMessage } from '../../../flows/svg/drawn-message.ts'
import type { FlowRecord } from '../model/flow-record.ts'
import type { PageLocation } from '../model/permalink.ts'
import type { PacedPage } from './draw-pace.ts'
import { PacedValue } from './paced-value.ts'

export interface Diagram {
  readonly messages: readonly FlowMessage[]
  readonly drawn: readonly DrawnMessage[]
  /** The lifelines in their order, if it is not that of the messages. */
  readonly participants: readonly string[]
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
    const { object, namespace, between, expanded, revision } = app.location
    const key = JSON.stringify([object, namespace, between, expanded, revision, app.showsStages])
    return this.#diagram.get(key, app.record.version, () => diagramOf(app))
  }
}

/** The messages that the page shows. */
export function diagramOf(app: DiagramState): Diagram {
  const { object, namespace, between, expanded, revision } = app.location
  const messages = app.record.messages({
    object,
    namespace,
    between,
    expanded,
    untilMs: untilMs(app, revision),
    stages: app.showsStages,
  })
  // Without an object the first messages are dropped as others follow; the order of the lifelines stays the same.
  const participants = object === undefined ? app.record.participantsOf(messages) : []
  return { messages, drawn: drawnMessages(messages), participants }
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
