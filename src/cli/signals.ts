// Turns SIGINT and SIGTERM into an abort of the command.
import type { EventEmitter } from 'node:events'

/**
 * The first signal begins the stop. Further SIGTERMs do not interrupt it, because `coxswain down` may follow another
 * stop. A second Ctrl-C ends the process at once: its default action applies again.
 */
export function abortedBySignals(source: Pick<EventEmitter, 'on' | 'once'>, controller: AbortController): AbortSignal {
  const abort = (signal: NodeJS.Signals) => controller.abort(new DOMException(`ended by ${signal}`, 'AbortError'))
  source.on('SIGTERM', abort)
  source.once('SIGINT', abort)
  return controller.signal
}
