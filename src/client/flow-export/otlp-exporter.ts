// exportSpans: sends the flow record to a collector of OpenTelemetry (OTLP over HTTP, JSON), in batches. Export never
// delays what is recorded: the exporter holds positions in the record, and skips events when the collector is too slow.
import type { Clock } from '../../base/time/clock.ts'
import { FlowFeed } from '../../base/observability/flow-feed.ts'
import type { FlowEvent, FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import type { OutboundProvider } from '../../platform/http/outbound.ts'
import { otlpRequest, otlpSpan, type ServiceSpan } from './otlp-span.ts'
import { SpanPlaces } from './span-places.ts'

export interface OtlpDeps {
  readonly flow: FlowRecorder
  /** The name of the flow record, 32 hexadecimal digits. */
  readonly record: string
  /** `http://127.0.0.1:4318`; spans are sent to its path `/v1/traces`. */
  readonly endpoint: URL
  readonly outbound: OutboundProvider
  readonly hasFailed: (event: FlowEvent) => boolean
  /** For the jitter of retries. */
  readonly random: Random
  readonly clock: Clock
  readonly log: Log
}

const batchMs = 1_000
const batchSpansMax = 512
const behindEventsMax = 20_000
const requestMsMax = 10_000
/** Responses after which OTLP allows a retry. */
const retryable = new Set([429, 502, 503, 504])
const attemptsMax = 5
const retryMsInitial = 1_000
/** A collector may ask for a longer delay than the backoff of the last attempt. */
const retryAfterMsMax = 300_000
const responseCharsMax = 64 << 10
/** How long the end of the process may wait for the last spans. */
const flushMsMax = 2_000

/** Runs until the signal is aborted, and sends what is left then, once. */
export async function exportSpans(deps: OtlpDeps, signal: AbortSignal): Promise<void> {
  const { flow, clock, log } = deps
  using feed = new FlowFeed(flow)
  const places = new SpanPlaces((revision) => flow.writeOf(revision))
  while (!signal.aborted)
    try {
      await feed.changed(signal)
      await clock.sleep(batchMs, signal)
      const missed = feed.keepNewest(behindEventsMax)
      if (missed > 0) log.warn('flow events were not exported, because the collector is too slow', { missed })
      while (!feed.isDrained) await sendSpans(takeSpans(feed, places, deps), deps, signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  await flush(feed, places, deps)
}

/** Ends with the first batch that is not accepted. */
async function flush(feed: FlowFeed, places: SpanPlaces, deps: OtlpDeps): Promise<void> {
  const tooLate = new AbortController()
  const timer = deps.clock.after(flushMsMax, () => tooLate.abort(new Error('the process ends')))
  try {
    while (!feed.isDrained) {
      const spans = takeSpans(feed, places, deps)
      if (spans.length > 0 && (await sendOnce(bodyOf(spans, deps), deps, tooLate.signal)).kind !== 'accepted') return
    }
  } catch (error) {
    if (!tooLate.signal.aborted) throw error
  } finally {
    timer.cancel()
  }
}

const bodyOf = (spans: readonly ServiceSpan[], { record }: OtlpDeps): string =>
  JSON.stringify(otlpRequest(spans, record))

/** A call becomes a span when it has ended, other events when they are recorded. */
function takeSpans(feed: FlowFeed, places: SpanPlaces, { record, hasFailed }: OtlpDeps): readonly ServiceSpan[] {
  return feed.take(batchSpansMax).flatMap((event) => {
    const { place, isKnown } = places.place(event)
    const isDue = event.arrow === 'call' ? event.outcome !== undefined : !isKnown
    return isDue ? [otlpSpan(event, place, record, hasFailed(event))] : []
  })
}

/** Retries as OTLP specifies; spans that cannot be sent are dropped. */
async function sendSpans(spans: readonly ServiceSpan[], deps: OtlpDeps, signal: AbortSignal): Promise<void> {
  if (spans.length === 0) return
  const { clock, log, random } = deps
  const body = bodyOf(spans, deps)
  for (let attempt = 1; ; attempt++) {
    const result = await sendOnce(body, deps, signal)
    if (result.kind === 'accepted') {
      if (result.warning !== '') log.warn('the collector has not accepted all spans', { reason: result.warning })
      return
    }
    if (result.kind === 'rejected' || attempt === attemptsMax) {
      log.warn('spans could not be exported', { spans: spans.length, reason: result.reason })
      return
    }
    const backoffMs = retryMsInitial * 2 ** (attempt - 1) * (1 + random.fraction())
    await clock.sleep(Math.min(result.afterMs ?? backoffMs, retryAfterMsMax), signal)
  }
}

type SendResult =
  /** The warning is empty unless the collector has dropped some spans. */
  | { readonly kind: 'accepted'; readonly warning: string }
  | { readonly kind: 'rejected'; readonly reason: string }
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs: number | undefined }

async function sendOnce(
  body: string,
  { endpoint, outbound, clock }: OtlpDeps,
  signal: AbortSignal,
): Promise<SendResult> {
  const tooSlow = new AbortController()
  const timer = clock.after(requestMsMax, () => tooSlow.abort(new Error(`no response within ${requestMsMax} ms`)))
  const target = `${endpoint.pathname.replace(/\/$/, '')}/v1/traces`
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'coxswain-otlp-exporter',
    'content-length': String(new TextEncoder().encode(body).length),
  }
  try {
    const ended = AbortSignal.any([signal, tooSlow.signal])
    const answer = await outbound.exchange(
      { origin: endpoint.origin, tls: {} },
      { method: 'POST', target, headers, body },
      ended,
    )
    if (answer.kind === 'upgraded') return { kind: 'rejected', reason: 'the collector switched protocols' }
    const text = await startOf(answer.body)
    if (answer.status >= 200 && answer.status < 300) return { kind: 'accepted', warning: partialSuccessText(text) }
    const reason = `the collector answered ${answer.status}`
    if (!retryable.has(answer.status)) return { kind: 'rejected', reason }
    return { kind: 'retry', reason, afterMs: retryAfterMs(answer.headers['retry-after'], clock.nowMs()) }
  } catch (error) {
    if (signal.aborted) throw error
    return { kind: 'retry', reason: errorText(error), afterMs: undefined }
  } finally {
    timer.cancel()
  }
}

/** The response is read to its end, so that the connection is used again; its first characters are returned. */
async function startOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of body) if (text.length < responseCharsMax) text += decoder.decode(piece, { stream: true })
  return text
}

interface PartialSuccess {
  /** A 64-bit integer, which the JSON encoding may write as a string. */
  readonly rejectedSpans?: number | string
  readonly errorMessage?: string
}

/** What the collector says about spans that it has dropped; they are not sent again. */
function partialSuccessText(text: string): string {
  try {
    const { partialSuccess } = JSON.parse(text) as { partialSuccess?: PartialSuccess }
    const { rejectedSpans = 0, errorMessage = '' } = partialSuccess ?? {}
    return Number(rejectedSpans) > 0 ? `${rejectedSpans} rejected: ${errorMessage}` : errorMessage
  } catch {
    return '' // a collector may respond in another encoding
  }
}

/** Seconds or a date, as in HTTP. */
function retryAfterMs(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined || text === '') return undefined
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}
