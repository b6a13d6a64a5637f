// The protocol between our clients and API servers for flow events.
import type { FlowEvent, FlowId, PeerEvent, ReportedEvent } from '../../../base/observability/flow-recorder.ts'
import { spanOf, type Span } from '../../../base/observability/span.ts'

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

/** The parameter with which a server reads the record of another one only, instead of those of all. */
export const ownRecordParameter = 'own'

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

/** A flow event in the form that is reported to other processes: ids are replaced by spans. */
export const reportedEvent = (event: FlowEvent, record: string): ReportedEvent =>
  reportedEventOf(event, (id) => spanOf(record, id))

/** A flow event for the record of another API server. */
export function peerEventOf(event: FlowEvent, nameOf: (id: FlowId) => Span): PeerEvent {
  const { allowedBy, deniedTo, stages } = event
  const passages = stages.map(({ afterEvent, ...passage }) => ({ ...passage, eventsSince: afterEvent - event.id }))
  const decision = { allowedBy, ...(deniedTo === undefined ? {} : { deniedTo }) }
  return { ...reportedEventOf(event, nameOf), ...decision, stages: passages }
}

/** The same with the span of each event. */
export function reportedEventOf(
  { id, allowedBy: _, deniedTo: _user, stages: _stages, cause, ...event }: FlowEvent,
  nameOf: (id: FlowId) => Span,
): ReportedEvent {
  const { revisions } = cause
  const span = cause.event === 0 ? cause.span : nameOf(cause.event)
  const why = span === undefined ? {} : { span }
  return { ...event, cause: { event: 0 as FlowId, also: [], revisions, ...why }, span: nameOf(id) }
}
