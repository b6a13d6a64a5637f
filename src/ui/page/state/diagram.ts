// The diagram that the page shows: the messages of the selected object, or of what happens now, until the selected time.
import type { FlowMessage } from '../../../flows/flow-messages.ts'
import { drawnMessages, type DrawnMessage } from '../../../flows/svg/drawn-message.ts'
import type { FlowRecord } from '../model/flow-record.ts'
import type { PageLocation } from '../model/permalink.ts'
import type { PacedPage } from './draw-pace.ts'

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

/** After computing a diagram, the page is free for this many times as long, so that few frames are omitted. */
const restFactor = 9
/** A diagram changes at most this often: drawing one takes the browser longer than computing it. */
const stepMs = 100

/**
 * The diagram that is shown. The flow of an object is computed from all events that the page has, which takes longer than a
 * frame when there are many, so it is computed for a part of the time only.
 */
export class DiagramCache {
  readonly #app: DiagramState & PacedPage
  #last: { readonly key: string; readonly version: number; readonly diagram: Diagram } | undefined
  #freeUntilMs = 0
  #isWaiting = false

  constructor(app: DiagramState & PacedPage) {
    this.#app = app
  }

  get(): Diagram {
    const app = this.#app
    const { object, namespace, between, expanded, revision } = app.location
    const key = JSON.stringify([object, namespace, between, expanded, revision, app.showsStages])
    const { version } = app.record
    const last = this.#last
    if (last?.key === key && (last.version === version || this.#mustWait())) return last.diagram
    const startMs = app.nowMs()
    const diagram = diagramOf(app)
    const endMs = app.nowMs()
    this.#freeUntilMs = Math.max(startMs + stepMs, endMs + (endMs - startMs) * restFactor)
    this.#last = { key, version, diagram }
    return diagram
  }

  /** Draws again when the time is over. */
  #mustWait(): boolean {
    const restMs = this.#freeUntilMs - this.#app.nowMs()
    if (restMs <= 0) return false
    if (!this.#isWaiting) {
      this.#isWaiting = true
      void this.#app.later(restMs, () => (this.#isWaiting = false))
    }
    return true
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
