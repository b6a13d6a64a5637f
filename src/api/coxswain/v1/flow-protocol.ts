// The protocol between our clients and API servers for flow events.
import { ownText } from '../../../base/text/own-text.ts'
import type { FlowEvent, FlowId, Span, ReportedEvent } from '../../../base/observability/flow-recorder.ts'

/** The header in which a client names the revisions that triggered its request. */
export const wokenByHeader = 'coxswain-woken-by'

/** The header of W3C's Trace Context in which a client names the flow event, in its own record, that caused a call. */
export const traceHeader = 'traceparent'

/** The prefix in the User-Agent before the name of one of our clients. */
export const senderPrefix = 'coxswain:'

/** The sender of watches that all controllers of a process share. */
export const controllersSender = 'controllers'

/** The path at which an API server returns the recorded flow events, and accepts those of other processes. */
export const flowEventsPath = '/coxswain/v1/flow-events'

/** Followed by the key of a pod: the path at which an API server returns what a scheduler decided about it. */
export const decisionsPath = '/coxswain/v1/decisions/'

/** The path at which schedulers in other processes read queries about their decisions, and post the responses. */
export const decisionQueriesPath = '/coxswain/v1/decision-questions'

export interface DecisionQuery {
  readonly id: number
  /** The key of a pod. */
  readonly pod: string
}

/** The maximum number of flow events in one request. */
export const reportedEventsMax = 1_000

/** The number of random bytes in the name of a process's record, a trace id in hexadecimal. */
export const recordNameBytes = 16

/** The name of a flow event outside of its process, in the form of a traceparent. */
export const spanOf = (record: string, event: FlowId): Span =>
  `00-${record}-${event.toString(16).padStart(16, '0')}-01` as Span

/** The span that a header or a body contains; undefined when it is invalid. */
export const readSpan = (text: unknown): Span | undefined =>
  typeof text === 'string' && /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(text)
    ? (ownText(`${text.slice(0, -2)}01`) as Span)
    : undefined

/** A flow event in the form that is reported to other processes: ids are replaced by spans. */
export const reportedEvent = (event: FlowEvent, record: string): ReportedEvent =>
  reportedEventOf(event, (id) => spanOf(record, id))

/** The same with the span of each event. */
export function reportedEventOf(
  { id, allowedBy: _, deniedTo: _user, cause, ...event }: FlowEvent,
  nameOf: (id: FlowId) => Span,
): ReportedEvent {
  const { revisions } = cause
  const span = cause.event === 0 ? cause.span : nameOf(cause.event)
  const why = span === undefined ? {} : { span }
  return { ...event, cause: { event: 0 as FlowId, also: [], revisions, ...why }, span: nameOf(id) }
}
