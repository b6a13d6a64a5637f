// The messages of a flow in the order of time. Similar branches are one message with a count; of messages that come again
// and again, such as the status updates of a rollout, the first are kept one by one and the rest are one with a count.
import type { FlowEvent, Span } from '../base/observability/flow-recorder.ts'
import type { FlowNode } from './flow-graph.ts'
import { foldBranches, messageShape, type Branch } from './fold-branches.ts'
import { withRequestStages } from './request-stages.ts'
import type { DiagramOptions } from './text-diagram.ts'

export interface FlowMessage {
  readonly event: FlowEvent
  /** How many alike it stands for. */
  readonly count: number
  /** What led to it is a guess. */
  readonly isInferred: boolean
}

/** The messages of a flow in the order of time, alike ones once. */
export function messagesOf(roots: readonly FlowNode[], { fold, stages: stations }: DiagramOptions): FlowMessage[] {
  const messages: FlowMessage[] = []
  const visit = (branches: readonly Branch[]): void => {
    for (const { event, isInferred, count, branches: further } of branches) {
      messages.push({ event, isInferred, count })
      visit(further)
    }
  }
  visit(foldBranches(stations ? withRequestStages(roots) : roots, fold))
  const ordered = inOrder(messages)
  return fold ? foldRepeats(ordered) : ordered
}

/**
 * In the order of time, and of the record within a millisecond. What another process told came late: it stands before
 * the first that it led to.
 */
function inOrder(messages: readonly FlowMessage[]): FlowMessage[] {
  const firstLedTo = new Map<Span, number>()
  for (const { event } of messages.toReversed()) {
    const span = event.cause.span
    if (span !== undefined) firstLedTo.set(span, event.id)
  }
  const place = ({ event: { id, span } }: FlowMessage): number =>
    span === undefined ? id : (firstLedTo.get(span) ?? id + 0.5) - 0.5
  return messages.toSorted((a, b) => a.event.atMs - b.event.atMs || place(a) - place(b))
}

/** So many lines are drawn of one message; the last of them stands for all further ones. */
const linesPerMessageMax = 3

/** In the order of the messages; the last line of each stands where its first repeat stood. */
function foldRepeats(messages: readonly FlowMessage[]): FlowMessage[] {
  const lines = new Map<string, number[]>()
  const drawn: FlowMessage[] = []
  for (const message of messages) {
    const key = messageShape(message.event)
    const known = lines.get(key) ?? []
    const last = known.length < linesPerMessageMax ? undefined : known.at(-1)
    if (last === undefined) {
      lines.set(key, [...known, drawn.length])
      drawn.push(message)
    } else {
      const standing = drawn[last] as FlowMessage
      drawn[last] = { ...standing, count: standing.count + message.count }
    }
  }
  return drawn
}
