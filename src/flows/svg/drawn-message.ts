// What a diagram shows of a message: its text, and for a failure the reason in words.
import type { Arrow, FlowEvent } from '../../base/observability/flow-recorder.ts'
import { hasFailed, unschedulableReason } from '../diagram-colors.ts'
import type { FlowMessage } from '../flow-messages.ts'
import { eventText } from '../fold-branches.ts'

export interface DrawnMessage {
  /** Identifies the message in its diagram. */
  readonly id: number
  readonly arrow: Arrow
  readonly from: string
  readonly to: string
  /** Since the first message of the diagram. */
  readonly afterMs: number
  readonly text: string
  /** The number of similar messages that it represents. */
  readonly count: number
  readonly isInferred: boolean
  readonly hasFailed: boolean
}

export function drawnMessages(messages: readonly FlowMessage[]): DrawnMessage[] {
  const startMs = messages[0]?.event.atMs ?? 0
  return messages.map(({ event, count, isInferred }) => ({
    id: event.id,
    arrow: event.arrow,
    from: event.from,
    to: event.to,
    afterMs: event.atMs - startMs,
    text: explainedText(event),
    count,
    isInferred,
    hasFailed: hasFailed(event),
  }))
}

/** The meaning of status codes, for outcomes without words. */
const statusWords: ReadonlyMap<string, string> = new Map([
  ['400', 'the request is malformed'],
  ['401', 'the credentials are not valid'],
  ['403', 'the user is not allowed to do this'],
  ['404', 'the object does not exist'],
  ['409', 'the object exists already or was changed meanwhile'],
  ['410', 'this part of the history is no longer kept'],
  ['422', 'the object is not valid'],
  ['429', 'the server asks the client to try again later'],
  ['500', 'the server failed'],
  ['503', 'the service is not available'],
  ['504', 'the response took too long'],
])

/** The reason of a failure in words; undefined for other events. */
export function failureReason(event: FlowEvent): string | undefined {
  if (!hasFailed(event)) return undefined
  const { outcome = '' } = event
  const unscheduled = unschedulableReason(event)
  if (unscheduled !== undefined) return unscheduled
  const words = statusWords.get(outcome.slice(0, 3))
  return words === undefined ? outcome : `${outcome}: ${words}`
}

function explainedText(event: FlowEvent): string {
  const text = eventText(event)
  const reason = failureReason(event)
  return reason === undefined ? text : text.replace(` → ${event.outcome}`, () => ` → ${reason}`)
}
