// uiStream: what the page of the web UI follows, as JSON lines: flow events that the user may see, and the rates of the
// lines of the map. It holds positions in the flow record, not events, so a slow reader costs no memory: it gets a gap
// with the number of events that it missed.
import type { Clock } from '../../base/time/clock.ts'
import { FlowFeed } from '../../base/observability/flow-feed.ts'
import type { FlowEvent, FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { LineRates, type LineRate } from './line-rates.ts'
import { recentEvents } from './recent-events.ts'

export type StreamLine =
  | { readonly kind: 'event'; readonly event: FlowEvent }
  /** Events that were not sent, because the reader was too slow. */
  | { readonly kind: 'gap'; readonly missed: number }
  /** All events that were recorded before the stream began have been sent. */
  | { readonly kind: 'ready'; readonly nowMs: number }
  | { readonly kind: 'rates'; readonly windowMs: number; readonly lines: readonly LineRate[] }

export interface StreamDeps {
  readonly flow: FlowRecorder
  /** The time of the cluster. */
  readonly nowMs: () => number
  /** Paces the stream; the machine's time where that of the cluster is virtual. */
  readonly clock: Clock
  readonly visible: (events: readonly FlowEvent[]) => Promise<readonly FlowEvent[]>
  /** Whether the session still exists. */
  readonly isOpen: () => boolean
}

/** The page renders once for each batch. */
const batchMs = 50
const batchEventsMax = 500
/** A reader that is further behind skips events. */
export const behindEventsMax = 10_000
const windowMs = 1_000

/** What a stream begins with. */
export interface StreamStart {
  /** The newest events that are not background. */
  readonly recent: number
  /** The newest events. */
  readonly past: number
}

export async function* uiStream(
  deps: StreamDeps,
  { recent, past }: StreamStart,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { flow, clock, visible, isOpen, nowMs } = deps
  using feed = new FlowFeed(flow)
  feed.keepNewest(past)
  const rates = new LineRates(flow.last)
  const first = await recentEvents(flow, recent, visible)
  if (first.length > 0) yield textOf(first.map((event) => ({ kind: 'event', event })))
  let isReady = false
  let hadRates = false
  let windowStartMs = clock.monotonicMs()
  while (!signal.aborted && isOpen()) {
    const missed = feed.keepNewest(behindEventsMax)
    const events = await visible(feed.take(batchEventsMax))
    for (const event of events) rates.add(event)
    const lines: StreamLine[] = missed === 0 ? [] : [{ kind: 'gap', missed }]
    for (const event of events) lines.push({ kind: 'event', event })
    if (feed.isDrained && !isReady) lines.push({ kind: 'ready', nowMs: nowMs() })
    isReady ||= feed.isDrained
    const sinceMs = clock.monotonicMs() - windowStartMs
    if (sinceMs >= windowMs) {
      const current = rates.take()
      // Lines without messages are not listed, so the end of traffic is reported once.
      if (hadRates || current.length > 0) lines.push({ kind: 'rates', windowMs: Math.round(sinceMs), lines: current })
      hadRates = current.length > 0
      windowStartMs = clock.monotonicMs()
    }
    if (lines.length > 0) yield textOf(lines)
    if (feed.isDrained) await nextBatch(feed, clock, signal)
  }
}

const textOf = (lines: readonly StreamLine[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** Resolves when there may be something to send: after events, and at the end of a window. */
async function nextBatch(feed: FlowFeed, clock: Clock, signal: AbortSignal): Promise<void> {
  const windowEnd = Promise.withResolvers<void>()
  const timer = clock.after(windowMs, windowEnd.resolve)
  try {
    await clock.sleep(batchMs, signal)
    await Promise.race([feed.changed(signal), unlessAborted(windowEnd.promise, signal)])
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    timer.cancel()
  }
}
