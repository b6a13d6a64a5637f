// The pieces in which the record of an API server is read, in the form in which other servers record them.
import { FlowFeed } from '../../base/observability/flow-feed.ts'
import {
  flowEventsDefault,
  type FlowId,
  type FlowRecorder,
  type PeerEvent,
} from '../../base/observability/flow-recorder.ts'
import { RecentMap } from '../../base/collections/recent-map.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Span, spanOf } from '../../base/observability/span.ts'
import { peerEventOf } from '../../api/coxswain/v1/flow-protocol.ts'
import { readFlowEvents } from '../client/fetch-flow-events.ts'

export interface Piece {
  readonly events: readonly PeerEvent[]
  /** Whether everything that existed at the start has been read. */
  readonly endsPast: boolean
}

const pieceEventsMax = 500
/** Events are gathered for so long: each piece costs a turn of the event loop. */
const gatherMs = 50

/** Those of this process, until the signal is aborted. `name` is the name of the record for others. */
export async function* ownPieces(
  flow: FlowRecorder,
  name: string,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  using feed = new FlowFeed(flow)
  const nameOf = (id: FlowId): Span => flow.get(id)?.span ?? spanOf(name, id)
  while (!signal.aborted) {
    const events = feed.take(pieceEventsMax).map((event) => peerEventOf(event, nameOf))
    yield { events, endsPast: feed.isDrained }
    if (!feed.isDrained) continue
    await feed.changed(signal)
    await clock.sleep(gatherMs, signal)
  }
}

/** Those in a response of another server. */
export async function* peerPieces(text: AsyncIterable<string>, name: string): AsyncGenerator<Piece> {
  // Events that others reported to the server keep the names that they have in all records.
  const reported = new RecentMap<FlowId, Span>(flowEventsDefault)
  const nameOf = (id: FlowId): Span => reported.get(id) ?? spanOf(name, id)
  for await (const { events, isDrained } of readFlowEvents(text)) {
    for (const { id, span } of events) if (span !== undefined) reported.set(id, span)
    yield { events: events.map((event) => peerEventOf(event, nameOf)), endsPast: isDrained }
  }
}
