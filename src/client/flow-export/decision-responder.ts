// Responds to the API server's queries about scheduling decisions, for a scheduler in a separate process.
import type { Clock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { DecisionQuery } from '../../api/coxswain/v1/flow-protocol.ts'
import { StatusError } from '../../api/errors/status-error.ts'

export interface DecisionResponderDeps {
  /** Queries, until the connection ends. */
  readonly queries: (signal: AbortSignal) => AsyncIterable<DecisionQuery>
  readonly respond: (id: number, explanation: object | undefined, signal: AbortSignal) => Promise<void>
  readonly explain: (podKey: string) => object | undefined
  readonly clock: Clock
  readonly log: Log
}

const retryMs = 1_000

/** Runs until the signal is aborted or the server rejects the connection. */
export async function respondToDecisionQueries(
  { queries, respond, explain, clock, log }: DecisionResponderDeps,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const { id, pod } of queries(signal)) await respond(id, explain(pod), signal)
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof StatusError && [403, 404, 405].includes(error.code)) {
        log.info('the API server does not send decision queries', { reason: error.message })
        return
      }
      log.debug('a decision query could not be answered', { error: errorText(error) })
    }
    await clock.sleep(retryMs, signal).catch(() => undefined)
  }
}
