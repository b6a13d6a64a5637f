// HTTPS on one port: HTTP/2 by Node.js, HTTP/1.1 by http1/, as the client chooses (ALPN); or plain HTTP/1.1.
import { once } from 'node:events'
import { createServer as createPlainServer, type AddressInfo, type Socket } from 'node:net'
import { createServer as createSecureServer, type TLSSocket } from 'node:tls'
import { every, realClock } from '../../base/clock.ts'
import { SharedTurns } from '../../base/shared-turns.ts'
import { whenKnown } from '../../base/when-known.ts'
import { httpDate } from '../http1/http-date.ts'
import type { ListenerProvider, ListenTls } from '../listener.ts'
import { clientCertificate, rootsOf } from './client-certificate.ts'
import { compressed } from './compression.ts'
import { serveHttp1 } from './http1-server.ts'
import { serveHttp2, type ServedConnection } from './http2-server.ts'

const handshakeMsMax = 30_000

export const nodeListeners: ListenerProvider = {
  async listen({ host, port, tls, handle }) {
    const secured = tls && securedServer(tls)
    const server = secured ?? createPlainServer()
    let roots = tls && rootsOf(tls)
    let seconds = 0
    const second = () => seconds
    const date = httpDate(realClock)
    const turns = new SharedTurns(realClock)
    const sockets = new Set<Socket>()
    const connections = new Map<ServedConnection, Socket>()
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
    const answer: typeof handle = (request) => whenKnown(handle(request), (known) => compressed(request, known))
    const serve = (socket: Socket, secure?: TLSSocket) => {
      const certificate = secure && roots && clientCertificate(secure, roots)
      const peer = { remoteAddress: socket.remoteAddress ?? '', certificate }
      const connection =
        secure?.alpnProtocol === 'h2'
          ? serveHttp2(secure, peer, { handle: answer, second, turns })
          : serveHttp1(socket, { ...peer, handle: answer, date, second, turns })
      connections.set(connection, socket)
      socket.once('close', () => connections.delete(connection))
    }
    if (secured === undefined) server.on('connection', (socket: Socket) => serve(socket))
    else secured.on('secureConnection', (socket) => serve(socket, socket))
    server.listen(port, host)
    await once(server, 'listening')
    const timer = every(realClock, 1_000, () => {
      seconds++
      for (const connection of connections.keys()) connection.look()
    })
    const address = server.address() as AddressInfo
    return {
      host: address.address,
      port: address.port,
      renew(fresh) {
        secured?.setSecureContext(contextOf(fresh))
        roots = rootsOf(fresh)
      },
      async close(graceMs) {
        const closed = once(server, 'close')
        server.close()
        await drained(connections, graceMs)
        for (const socket of sockets) socket.destroy()
        await closed
        timer.cancel()
      },
    }
  },
}

const securedServer = (tls: ListenTls) =>
  createSecureServer({
    ...contextOf(tls),
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: handshakeMsMax,
    requestCert: true,
    rejectUnauthorized: false, // who presents no certificate may still present a token
  })

const contextOf = ({ certificate, key, clientAuthorities }: ListenTls) => ({
  cert: certificate,
  key,
  ca: Object.values(clientAuthorities),
  minVersion: 'TLSv1.2' as const,
})

/** Lets answers under way end, for so long: a connection closes behind its last one. */
async function drained(connections: ReadonlyMap<ServedConnection, Socket>, graceMs: number): Promise<void> {
  const busy = [...connections].filter(([{ isBusy }]) => isBusy)
  for (const connection of connections.keys()) connection.drain()
  if (busy.length === 0 || graceMs === 0) return
  const given = new AbortController()
  await Promise.race([
    Promise.all(busy.map(([, socket]) => once(socket, 'close'))),
    realClock.sleep(graceMs, given.signal).catch(() => {}),
  ])
  given.abort()
}
