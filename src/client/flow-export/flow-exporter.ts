// The flow of a component in a process of its own, told to its API server: batch by batch, late rather than dear. What
// cannot be told is dropped; nothing waits for it.
import type { Clock } from '../../base/time/clock.ts'
import { FlowFeed } from '../../base/observability/flow-feed.ts'
import type { FlowRecorder, ReportedEvent } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { reportedEvent, reportedEventsMax } from '../../api/coxswain/v1/flow-protocol.ts'
import { StatusError } from '../../api/errors/status-error.ts'

export interface FlowExporterDeps {
  readonly flow: FlowRecorder
  /** The record's name outside of this process. */
  readonly record: string
  readonly send: (events: readonly ReportedEvent[], signal: AbortSignal) => Promise<void>
  readonly clock: Clock
  readonly log: Log
}

/** So long events are gathered before they are told. */
const batchMs = 200
const retryMs = 5_000

/** Runs until the signal, or until the server says that it wants none. */
export async function exportFlow(
  { flow, record, send: tell, clock, log }: FlowExporterDeps,
  signal: AbortSignal,
): Promise<void> {
  using feed = new FlowFeed(flow)
  const exportBatches = async () => {
    await feed.changed(signal)
    await clock.sleep(batchMs, signal)
    for (;;) {
      const events = feed.take(reportedEventsMax)
      if (events.length === 0) return
      await tell(
        events.map((event) => reportedEvent(event, record)),
        signal,
      )
    }
  }
  while (!signal.aborted) {
    try {
      await exportBatches()
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof StatusError && [403, 404, 405].includes(error.code)) {
        log.info('the API server keeps no record of flows for us', { reason: error.message })
        return
      }
      log.debug('a part of the flow could not be told', { error: errorText(error) })
      await clock.sleep(retryMs, signal).catch(() => undefined)
    }
  }
}
