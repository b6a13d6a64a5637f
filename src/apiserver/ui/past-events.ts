// pastEvents: a page of the flow record before an event, as JSON lines. The page of the web UI reads it after its first view, so
// that opening it does not wait for everything that was recorded.
import type { FlowEvent, FlowId, FlowRecorder } from '../../base/observability/flow-recorder.ts'

export type PastLine =
  | { readonly kind: 'event'; readonly event: FlowEvent }
  /** The last line: the position before which the next page ends; 0 if there are no older events. */
  | { readonly kind: 'page'; readonly before: number }

/** Other requests are handled after as many events. */
const batchEventsMax = 500

export async function* pastEvents(
  flow: FlowRecorder,
  { before, count }: { readonly before: number; readonly count: number },
  visible: (events: readonly FlowEvent[]) => Promise<readonly FlowEvent[]>,
): AsyncGenerator<string> {
  const end = Math.min(before, flow.last + 1)
  const first = Math.max(flow.oldest, end - count)
  for (let at = first; at < end; at += batchEventsMax) {
    const events: FlowEvent[] = []
    for (let id = at; id < Math.min(end, at + batchEventsMax); id++) {
      const event = flow.get(id as FlowId)
      if (event !== undefined) events.push(event)
    }
    const lines = (await visible(events)).map((event): PastLine => ({ kind: 'event', event }))
    if (lines.length > 0) yield textOf(lines)
  }
  yield textOf([{ kind: 'page', before: first <= flow.oldest || first >= end ? 0 : first }])
}

const textOf = (lines: readonly PastLine[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('')
