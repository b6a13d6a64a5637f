// HTTPS on one port: HTTP/2 by Node.js, HTTP/1.1 by http1/, as the client chooses (ALPN); or plain HTTP/1.1.
import { every, realClock, type Clock } from '../../base/clock.ts'
import { SharedTurns } from '../../base/shared-turns.ts'
import { whenKnown } from '../../base/when-known.ts'
import { httpDate } from '../http1/http-date.ts'
import { connectionsToClose } from '../idle-connections.ts'
import { listenLimitsDefault } from '../listen-limits.ts'
import type { ListenerProvider } from '../listener.ts'
import { MemoryBudget } from '../memory-budget.ts'
import type { ServedConnection } from '../served-connection.ts'
import { isExpired } from './client-certificate.ts'
import { compressed } from './compression.ts'
import { probeDescriptors } from './descriptors.ts'
import type { Client } from './door.ts'
import { Http2Connection } from './http2-server.ts'
import { openOwnDoor } from './own-door.ts'
import { openThreadDoor } from './tls-thread/thread-door.ts'

/** The clock counts the seconds that clients may take; the TLS thread has a clock of its own. */
export const listenersOn = (clock: Clock): ListenerProvider => ({
  async listen({ host, port, tls, isThreaded = false, handle, limits: given, onShed = () => {} }) {
    const limits = { ...listenLimitsDefault, ...given }
    let seconds = 0
    const connections = new Map<ServedConnection, Client>()
    const options = {
      handle: ((request) => whenKnown(handle(request), (known) => compressed(request, known))) as typeof handle,
      second: () => seconds,
      date: httpDate(clock),
      turns: new SharedTurns(realClock),
      budget: new MemoryBudget(limits, (bytes) => onShed('memory', 1, bytes)),
      onShed,
      verifiesClients: Object.keys(tls?.clientAuthorities ?? {}).length > 0,
    }
    const serve = (client: Client) => {
      const { remoteAddress, certificate: shown } = client
      // A TLS session that is resumed may be older than the certificate is valid.
      const certificate = shown && isExpired(shown, clock.nowMs()) ? { ...shown, authority: undefined } : shown
      const whole = { ...options, remoteAddress, certificate, client: client.client }
      const connection = client.isHttp2 ? new Http2Connection(client, whole) : client.serveHttp1(whole)
      connections.set(connection, client)
      client.onClosed(() => connections.delete(connection))
    }
    const place = { host, port, limits, onShed }
    const door =
      isThreaded && tls !== undefined
        ? await openThreadDoor({ ...place, tls }, serve)
        : await openOwnDoor({ ...place, clock, ...(tls && { tls }) }, serve)
    const timer = every(clock, 1_000, () => {
      seconds++
      probeDescriptors(() => onShed('descriptors', 1, 0))
      const nowMs = clock.nowMs()
      for (const [connection, { certificate }] of connections) {
        if (certificate !== undefined && isExpired(certificate, nowMs)) connection.revoke()
        connection.look()
      }
      const idle = connectionsToClose([...connections.keys()], limits)
      if (idle.length > 0) onShed('idle', idle.length, 0)
      for (const connection of idle) connection.drain()
    })
    return {
      host: door.host,
      port: door.port,
      renew: (fresh) => door.renew(fresh),
      async close(graceMs) {
        door.shut()
        await drained(connections, graceMs)
        await door.close()
        timer.cancel()
      },
    }
  },
})

export const nodeListeners = listenersOn(realClock)

/** Lets answers under way end, for so long: a connection closes behind its last one. */
async function drained(connections: ReadonlyMap<ServedConnection, Client>, graceMs: number): Promise<void> {
  const busy = [...connections].filter(([{ isBusy }]) => isBusy)
  for (const connection of connections.keys()) connection.drain()
  if (busy.length === 0 || graceMs === 0) return
  const given = new AbortController()
  await Promise.race([
    Promise.all(busy.map(([, client]) => new Promise<void>((resolve) => client.onClosed(resolve)))),
    realClock.sleep(graceMs, given.signal).catch(() => {}),
  ])
  given.abort()
}
