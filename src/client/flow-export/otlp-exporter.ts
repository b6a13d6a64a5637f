// exportSpans: sends the flow record to a collector of OpenTelemetry (OTLP over HTTP, JSON), in batches. Export never
// delays what is recorded: the exporter holds positions in the record, and skips events when the collector is too slow.
import type { Clock } from '../../base/time/clock.ts'
import { FlowFeed } from '../../base/observability/flow-feed.ts'
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { OutboundProvider } from '../../platform/http/outbound.ts'
import { otlpRequest, otlpSpan, type OtlpSpan } from './otlp-span.ts'
import { SpanPlaces } from './span-places.ts'

export interface OtlpDeps {
  readonly flow: FlowRecorder
  /** The name of the flow record, 32 hexadecimal digits. */
  readonly record: string
  /** `http://127.0.0.1:4318`; spans are sent to its path `/v1/traces`. */
  readonly endpoint: URL
  readonly outbound: OutboundProvider
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
const retryMsMax = 30_000

/** Runs until the signal is aborted. */
export async function exportSpans(deps: OtlpDeps, signal: AbortSignal): Promise<void> {
  const { flow, record, clock, log } = deps
  using feed = new FlowFeed(flow)
  const places = new SpanPlaces((revision) => flow.writeOf(revision))
  while (!signal.aborted)
    try {
      await feed.changed(signal)
      await clock.sleep(batchMs, signal)
      const missed = feed.keepNewest(behindEventsMax)
      if (missed > 0) log.warn('flow events were not exported, because the collector is too slow', { missed })
      while (!feed.isDrained) await sendSpans(takeSpans(feed, places, record), deps, signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
}

/** A call becomes a span when it has ended, other events when they are recorded. */
function takeSpans(feed: FlowFeed, places: SpanPlaces, record: string): readonly OtlpSpan[] {
  return feed.take(batchSpansMax).flatMap((event) => {
    const { place, isKnown } = places.place(event)
    const isDue = event.arrow === 'call' ? event.outcome !== undefined : !isKnown
    return isDue ? [otlpSpan(event, place, record)] : []
  })
}

/** Retries as OTLP specifies; spans that cannot be sent are dropped. */
async function sendSpans(spans: readonly OtlpSpan[], deps: OtlpDeps, signal: AbortSignal): Promise<void> {
  if (spans.length === 0) return
  const { clock, log } = deps
  const body = JSON.stringify(otlpRequest(spans))
  for (let attempt = 1; ; attempt++) {
    const result = await sendOnce(body, deps, signal)
    if (result.kind === 'accepted') return
    if (result.kind === 'rejected' || attempt === attemptsMax) {
      log.warn('spans could not be exported', { spans: spans.length, reason: result.reason })
      return
    }
    const backoffMs = Math.min(retryMsInitial * 2 ** (attempt - 1), retryMsMax)
    await clock.sleep(Math.min(result.afterMs ?? backoffMs, retryMsMax), signal)
  }
}

type SendResult =
  | { readonly kind: 'accepted' }
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
    for await (const _ of answer.body); // reads the response to its end
    const reason = `the collector answered ${answer.status}`
    if (answer.status >= 200 && answer.status < 300) return { kind: 'accepted' }
    if (!retryable.has(answer.status)) return { kind: 'rejected', reason }
    const seconds = Number(answer.headers['retry-after'])
    return { kind: 'retry', reason, afterMs: seconds >= 0 ? seconds * 1_000 : undefined }
  } catch (error) {
    if (signal.aborted) throw error
    return { kind: 'retry', reason: errorText(error), afterMs: undefined }
  } finally {
    timer.cancel()
  }
}
