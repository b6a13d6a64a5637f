// The flow of a component in a process of its own, told to its API server: batch by batch, late rather than dear. What
// cannot be told is dropped; nothing waits for it.
import type { Clock } from '../base/clock.ts'
import { FlowFeed } from '../base/flow-feed.ts'
import type { FlowRecorder, ToldEvent } from '../base/flow.ts'
import { errorText, type Log } from '../base/log.ts'
import { toldEvent, toldEventsMax } from '../api/flow-wire.ts'
import { StatusError } from '../api/status-error.ts'

export interface FlowTellerParts {
  readonly flow: FlowRecorder
  /** The record's name outside of this process. */
  readonly record: string
  readonly tell: (events: readonly ToldEvent[], signal: AbortSignal) => Promise<void>
  readonly clock: Clock
  readonly log: Log
}

/** So long events are gathered before they are told. */
const gatherMs = 200
const retryMs = 5_000

/** Runs until the signal, or until the server says that it wants none. */
export async function tellFlow(
  { flow, record, tell, clock, log }: FlowTellerParts,
  signal: AbortSignal,
): Promise<void> {
  using feed = new FlowFeed(flow)
  const told = async () => {
    await feed.changed(signal)
    await clock.sleep(gatherMs, signal)
    for (;;) {
      const events = feed.take(toldEventsMax)
      if (events.length === 0) return
      await tell(
        events.map((event) => toldEvent(event, record)),
        signal,
      )
    }
  }
  while (!signal.aborted) {
    try {
      await told()
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
