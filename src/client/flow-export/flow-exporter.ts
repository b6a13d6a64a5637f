// exportFlow: sends the flow events of a component in a separate process to the API server, in batches. Export is
// asynchronous and best effort: a batch that cannot be sent is dropped.
import type { Clock } from '../../base/time/clock.ts'
import { FlowFeed } from '../../base/observability/flow-feed.ts'
import type { FlowRecorder, ReportedEvent } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { reportedEvent, reportedEventsMax } from '../../api/coxswain/v1/flow-protocol.ts'
import { StatusError } from '../../api/errors/status-error.ts'

export interface FlowExporterDeps {
  readonly flow: FlowRecorder
  /** The name of the flow record outside this process. */
  readonly record: string
  readonly send: (events: readonly ReportedEvent[], signal: AbortSignal) => Promise<void>
  readonly clock: Clock
  readonly log: Log
}

/** How long events are collected for a batch. */
const batchMs = 200
const retryMs = 5_000

/** Runs until the signal is aborted or the server rejects flow events. */
export async function exportFlow(
  { flow, record, send, clock, log }: FlowExporterDeps,
  signal: AbortSignal,
): Promise<void> {
  using feed = new FlowFeed(flow)
  const exportBatches = async () => {
    await feed.changed(signal)
    await clock.sleep(batchMs, signal)
    for (;;) {
      const events = feed.take(reportedEventsMax)
      if (events.length === 0) return
      await send(
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
        log.info('the API server does not accept flow events', { reason: error.message })
        return
      }
      log.debug('flow events could not be sent', { error: errorText(error) })
      await clock.sleep(retryMs, signal).catch(() => undefined)
    }
  }
}
