// A door in this thread: sockets of Node.js, plain or with TLS.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ClientCertificate } from '../listener.ts'
import { clientCertificate, rootsOf } from './client-certificate.ts'
import type { Client, OpenDoor } from './door.ts'
import { serveHttp1 } from './http1-server.ts'
import { contextOf, securedServer } from './secured-server.ts'

export const openOwnDoor: OpenDoor = async ({ host, port, tls }, onClient) => {
  const secured = tls && securedServer(tls)
  const server = secured ?? createServer()
  let roots = tls && rootsOf(tls)
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  if (secured === undefined) server.on('connection', (socket: Socket) => onClient(clientOn(socket, undefined, false)))
  else
    secured.on('secureConnection', (socket: TLSSocket) =>
      onClient(clientOn(socket, roots && clientCertificate(socket, roots), socket.alpnProtocol === 'h2')),
    )
  server.listen(port, host)
  await once(server, 'listening')
  const closed = once(server, 'close')
  const address = server.address() as AddressInfo
  return {
    host: address.address,
    port: address.port,
    async renew(fresh) {
      secured?.setSecureContext(contextOf(fresh))
      roots = rootsOf(fresh)
    },
    shut: () => void server.close(),
    async close() {
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

const clientOn = (socket: Socket, certificate: ClientCertificate | undefined, isHttp2: boolean): Client => {
  const peer = { remoteAddress: socket.remoteAddress ?? '', certificate }
  return {
    ...peer,
    isHttp2,
    serveHttp1: (options) => serveHttp1(socket, { ...options, ...peer }),
    stream: () => socket,
    onClosed: (callback) => void socket.once('close', callback),
  }
}
