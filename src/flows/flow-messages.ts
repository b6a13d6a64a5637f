// The messages of a flow in order of time. Similar branches are one message with a count. Of repeated messages, such as
// the status updates of a rollout, the first are shown individually and the others as one with a count.
import type { FlowEvent, FlowId } from '../base/observability/flow-recorder.ts'
import type { Span } from '../base/observability/span.ts'
import type { FlowNode } from './flow-graph.ts'
import { foldBranches, messageShape, type Branch } from './fold-branches.ts'
import { withRequestStages } from './request-stages.ts'
import type { DiagramOptions } from './text-diagram.ts'

export interface FlowMessage {
  readonly event: FlowEvent
  /** The number of similar messages that it represents. */
  readonly count: number
  /** Its cause is inferred. */
  readonly isInferred: boolean
}

export function messagesOf(
  roots: readonly FlowNode[],
  { fold, stages, expanded, share }: DiagramOptions,
): FlowMessage[] {
  const messages: FlowMessage[] = []
  const visit = (branches: readonly Branch[]): void => {
    for (const { event, isInferred, count, branches: further } of branches) {
      messages.push({ event, isInferred, count })
      visit(further)
    }
  }
  visit(foldBranches(stages ? withRequestStages(roots) : roots, fold, expanded, share))
  const ordered = inOrder(messages)
  return fold ? foldRepeats(ordered, expanded) : ordered
}

/**
 * Sorted by time, then by id. Events of other processes are recorded late, so they are placed before the first event
 * that they caused.
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

/** Lines drawn for one repeated message; the last represents all further ones. */
const linesPerMessageMax = 3

/** Merges repeated messages beyond the limit into the last line of their kind. */
function foldRepeats(messages: readonly FlowMessage[], expanded?: ReadonlySet<FlowId>): FlowMessage[] {
  const lines = new Map<string, number[]>()
  const drawn: FlowMessage[] = []
  for (const message of messages) {
    const key = messageShape(message.event)
    const known = lines.get(key) ?? []
    const latest = known.length < linesPerMessageMax ? undefined : known[linesPerMessageMax - 1]
    const isExpanded = latest !== undefined && expanded?.has((drawn[latest] as FlowMessage).event.id)
    const last = isExpanded ? undefined : latest
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
