// The endpoint of flow events: reads the record, once or as a stream, and accepts events that components of other
// processes report.
import { thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { ownText } from '../../base/text/own-text.ts'
import type { Clock } from '../../base/time/clock.ts'
import { WorkSlice } from '../../base/work/work-slice.ts'
import { FlowFeed } from '../../base/observability/flow-feed.ts'
import {
  arrows,
  type Arrow,
  type FlowId,
  type FlowObject,
  type FlowRecorder,
  type ReportedEvent,
} from '../../base/observability/flow-recorder.ts'
import { readSpan } from '../../base/observability/span.ts'
import { ownRecordParameter, reportedEventsMax } from '../../api/coxswain/v1/flow-protocol.ts'
import { badRequest, pathNotFound, StatusError } from '../../api/errors/status-error.ts'
import type { ApiResponse } from '../request/response.ts'
import { mayIdentifyAs } from '../request/component-identity.ts'
import { booleanParameter } from '../request/query-values.ts'
import type { ApiRequest, User } from '../request/request.ts'
import type { FlowReading, FlowRecords } from './flow-records.ts'

export interface FlowEventsDeps {
  readonly flow: FlowRecorder
  readonly records: FlowRecords
  readonly clock: Clock
}

export function handleFlowEvents(
  request: ApiRequest,
  { flow, records, clock }: FlowEventsDeps,
): MaybePromise<ApiResponse> {
  const { target, query, context } = request
  switch (target.verb) {
    case 'get': {
      const isOwn = booleanParameter(query, ownRecordParameter)
      return thenMaybe(isOwn ? { flow, missing: [] } : records.read(context.signal), (reading) =>
        booleanParameter(query, 'follow')
          ? streamed('application/json-lines', follow(reading.flow, clock, context.signal))
          : streamed('application/json', recorded(reading, clock, context.signal)),
      )
    }
    case 'post': {
      for (const event of reportedEvents(request)) flow.recordReported(event)
      return { kind: 'json', status: 200, value: {} }
    }
    default:
      throw pathNotFound()
  }
}

const streamed = (contentType: string, body: AsyncIterable<string>): ApiResponse => ({
  kind: 'wire',
  response: { status: 200, headers: { 'content-type': contentType }, body },
})

const eventsInPieceMax = 500
/** Events are batched for this long, because a reader renders again for each piece. */
const gatherMs = 50

/** One JSON object with the record so far. Other requests are handled between its pieces. */
async function* recorded({ flow, missing }: FlowReading, clock: Clock, signal: AbortSignal): AsyncGenerator<string> {
  const slice = new WorkSlice(clock)
  const last = flow.last
  let separator = ''
  yield '{"events":['
  for (let id = flow.oldest; id <= last;) {
    const texts: string[] = []
    for (; id <= last && texts.length < eventsInPieceMax; id++) {
      const event = flow.get(id)
      if (event !== undefined) texts.push(JSON.stringify(event))
    }
    if (texts.length > 0) yield `${separator}${texts.join(',')}`
    if (texts.length > 0) separator = ','
    if (slice.isUsedUp()) await slice.next()
    signal.throwIfAborted()
  }
  yield missing.length === 0 ? ']}' : `],"missing":${JSON.stringify(missing)}}`
}

/**
 * JSON lines: the record so far, then each new event, and each event again when it has ended. An empty line marks the
 * end of what exists so far.
 */
async function* follow(flow: FlowRecorder, clock: Clock, signal: AbortSignal): AsyncGenerator<string> {
  using feed = new FlowFeed(flow)
  while (!signal.aborted) {
    const events = feed.take(eventsInPieceMax)
    const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('')
    yield feed.isDrained ? `${lines}\n` : lines
    if (!feed.isDrained) continue
    await feed
      .changed(signal)
      .then(() => clock.sleep(gatherMs, signal))
      .catch(() => undefined)
  }
}

function reportedEvents({ body, user }: ApiRequest): ReportedEvent[] {
  const events = body.kind === 'value' ? fieldsOf(body.value)['events'] : undefined
  if (!Array.isArray(events)) throw badRequest('events: must be a list')
  if (events.length > reportedEventsMax) throw badRequest(`events: must have at most ${reportedEventsMax} items`)
  return events.map((event, index) => reportedEvent(fieldsOf(event), `events[${index}]`, user))
}

function reportedEvent(fields: Fields, path: string, user: User | undefined): ReportedEvent {
  const from = textOf(fields, 'from', path)
  if (user === undefined || !mayIdentifyAs(user, from))
    throw new StatusError(
      403,
      'Forbidden',
      `${path}.from: ${user?.name ?? ''} does not speak as ${JSON.stringify(from)}`,
    )
  const span = readSpan(fields['span'])
  if (span === undefined) throw badRequest(`${path}.span: must be a traceparent`)
  const cause = fieldsOf(fields['cause'])
  const revisions = cause['revisions']
  const causeSpan = readSpan(cause['span'])
  return {
    span,
    from,
    arrow: arrowOf(fields, path),
    to: textOf(fields, 'to', path),
    what: textOf(fields, 'what', path),
    atMs: numberOf(fields, 'atMs') ?? 0,
    endMs: numberOf(fields, 'endMs'),
    outcome: fields['outcome'] === undefined ? undefined : textOf(fields, 'outcome', path),
    object: objectOf(fields['object'], `${path}.object`),
    revision: numberOf(fields, 'revision') ?? 0,
    cause: {
      event: 0 as FlowId,
      also: [],
      revisions: Array.isArray(revisions) ? revisions.filter(Number.isSafeInteger).slice(0, revisionsMax) : [],
      ...(causeSpan === undefined ? {} : { span: causeSpan }),
    },
  }
}

const revisionsMax = 8
const textCharsMax = 1_024
type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

function textOf(fields: Fields, name: string, path: string): string {
  const text = lookup(fields, name)
  if (typeof text !== 'string') throw badRequest(`${path}.${name}: must be a string`)
  return ownText(text, textCharsMax)
}

const numberOf = (fields: Fields, name: string): number | undefined =>
  Number.isFinite(lookup(fields, name)) ? (lookup(fields, name) as number) : undefined

function arrowOf(fields: Fields, path: string): Arrow {
  const arrow = arrows.find((one) => one === fields['arrow'])
  if (arrow === undefined) throw badRequest(`${path}.arrow: must be one of ${arrows.join(', ')}`)
  // Only this server writes to the store and delivers watch events.
  if (arrow === 'persist' || arrow === 'watch')
    throw badRequest(`${path}.arrow: may only be recorded by the API server`)
  return arrow
}

function objectOf(value: unknown, path: string): FlowObject | undefined {
  if (value === undefined) return undefined
  const fields = fieldsOf(value)
  const resource = textOf(fields, 'resource', path)
  const namespace = textOf(fields, 'namespace', path)
  return { resource, namespace, name: textOf(fields, 'name', path) }
}
