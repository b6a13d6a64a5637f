// keepAlive: asks the server from time to time whether it is there, and gives the connection up when it does not
// answer: a machine that lost its power closes no connection.
import { every, type Clock, type Timer } from '../../base/time/clock.ts'
import type { Http2Connection } from '../../platform/http/http2-client.ts'

/** Servers of gRPC take pings more frequent than every five seconds for an attack. */
const pingEveryMs = 10_000
const pongMsMax = 5_000

export function keepAlive(connection: Http2Connection, clock: Clock): void {
  let answerDue: Timer | undefined
  const asking = every(clock, pingEveryMs, () => {
    const due = clock.after(pongMsMax, () => connection.destroy())
    answerDue = due
    connection.ping().then(due.cancel, due.cancel)
  })
  void connection.closed.finally(() => {
    asking.cancel()
    answerDue?.cancel()
  })
}
