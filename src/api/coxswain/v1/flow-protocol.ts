// What our own clients and API servers tell each other about flows, on the wire.
import type { FlowEvent, FlowId, Span, ReportedEvent } from '../../../base/observability/flow-recorder.ts'

/** The header in which a client names the revisions that woke it. */
export const wokenByHeader = 'coxswain-woken-by'

/** The header, as W3C's Trace Context has it, in which a client names the event in its own record that led to a call. */
export const traceHeader = 'traceparent'

/** Our own clients name themselves behind this mark in the User-Agent. */
export const senderPrefix = 'coxswain:'

/** Who watches for all controllers of a process. */
export const controllersSender = 'controllers'

/** Where an API server answers with the events that it has recorded, and is told those of other processes. */
export const flowEventsPath = '/coxswain/v1/flow-events'

/** Before the key of a pod: where an API server answers with what a scheduler decided about it. */
export const decisionsPath = '/coxswain/v1/decisions/'

/** Where schedulers in other processes follow the questions about their decisions, and answer them. */
export const decisionQueriesPath = '/coxswain/v1/decision-questions'

export interface DecisionQuery {
  readonly id: number
  /** The key of a pod. */
  readonly pod: string
}

/** How many events one request tells at most. */
export const reportedEventsMax = 1_000

/** A process's record is named, in hexadecimal, by so many random bytes: a trace id. */
export const recordNameBytes = 16

/** An event's name outside of its process, in the form of a traceparent. */
export const spanOf = (record: string, event: FlowId): Span =>
  `00-${record}-${event.toString(16).padStart(16, '0')}-01` as Span

/** The span that a header or a body names; undefined when it is none. */
export const readSpan = (text: unknown): Span | undefined =>
  typeof text === 'string' && /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(text)
    ? (`${text.slice(0, -2)}01` as Span)
    : undefined

/** An event as its process tells it to others: ids become names that hold outside. */
export function reportedEvent({ id, allowedBy: _, cause, ...event }: FlowEvent, record: string): ReportedEvent {
  const { revisions } = cause
  const why = cause.event === 0 ? {} : { span: spanOf(record, cause.event) }
  return { ...event, cause: { event: 0 as FlowId, also: [], revisions, ...why }, span: spanOf(record, id) }
}
