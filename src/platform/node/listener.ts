// HTTPS on one port: HTTP/2 by Node.js, HTTP/1.1 by http1/, as the client chooses (ALPN); or plain HTTP/1.1.
import { every, realClock } from '../../base/clock.ts'
import { SharedTurns } from '../../base/shared-turns.ts'
import { whenKnown } from '../../base/when-known.ts'
import { httpDate } from '../http1/http-date.ts'
import type { ListenerProvider } from '../listener.ts'
import { compressed } from './compression.ts'
import type { Client } from './door.ts'
import { serveHttp2, type ServedConnection } from './http2-server.ts'
import { openOwnDoor } from './own-door.ts'
import { openThreadDoor } from './tls-thread/thread-door.ts'

export const nodeListeners: ListenerProvider = {
  async listen({ host, port, tls, isThreaded = false, handle }) {
    let seconds = 0
    const second = () => seconds
    const date = httpDate(realClock)
    const turns = new SharedTurns(realClock)
    const connections = new Map<ServedConnection, Client>()
    const answer: typeof handle = (request) => whenKnown(handle(request), (known) => compressed(request, known))
    const serve = (client: Client) => {
      const options = { handle: answer, second, turns }
      const connection = client.isHttp2
        ? serveHttp2(client.stream(), client, options)
        : client.serveHttp1({ ...options, date })
      connections.set(connection, client)
      client.onClosed(() => connections.delete(connection))
    }
    const door =
      isThreaded && tls !== undefined
        ? await openThreadDoor({ host, port, tls }, serve)
        : await openOwnDoor({ host, port, ...(tls && { tls }) }, serve)
    const timer = every(realClock, 1_000, () => {
      seconds++
      for (const connection of connections.keys()) connection.look()
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
}

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
