// keepAlive: pings the server regularly and closes the connection when there is no reply: a machine that lost power
// closes no connection.
import { every, type Clock, type Timer } from '../../base/time/clock.ts'
import type { Http2Connection } from '../../platform/http/http2-client.ts'

/** gRPC servers reject more frequent pings than one every five seconds. */
const pingEveryMs = 10_000
const pongMsMax = 5_000

export function keepAlive(connection: Http2Connection, clock: Clock): void {
  let pongTimeout: Timer | undefined
  const pings = every(clock, pingEveryMs, () => {
    const due = clock.after(pongMsMax, () => connection.destroy())
    pongTimeout = due
    connection.ping().then(due.cancel, due.cancel)
  })
  void connection.closed.finally(() => {
    pings.cancel()
    pongTimeout?.cancel()
  })
}
