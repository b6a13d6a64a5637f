// A door in this thread: sockets of Node.js, plain or with TLS.
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Clock } from '../../base/clock.ts'
import { clientKey } from '../client-key.ts'
import { Acceptor } from './acceptor.ts'
import { clientCertificate, rootsOf, type ConnectionCertificate } from './client-certificate.ts'
import type { Client, DoorOptions, OpenDoor } from './door.ts'
import { serveHttp1 } from './http1-server.ts'

export const openOwnDoor: OpenDoor<DoorOptions & { readonly clock: Clock }> = async (
  { host, port, tls, limits, clock, onShed },
  onClient,
) => {
  let roots = tls && rootsOf(tls)
  const onConnection = (socket: Socket) => {
    const secured = socket instanceof TLSSocket ? socket : undefined
    const certificate = secured && roots && clientCertificate(secured, roots)
    onClient(clientOn(socket, certificate, secured?.alpnProtocol === 'h2'))
  }
  const acceptor = new Acceptor({ tls, limits, clock, onShed, onConnection })
  const { address, port: taken } = await acceptor.listen(port, host)
  return {
    host: address,
    port: taken,
    async renew(fresh) {
      acceptor.renew(fresh)
      roots = rootsOf(fresh)
    },
    shut: () => acceptor.shut(),
    close: () => acceptor.close(),
  }
}

const clientOn = (socket: Socket, certificate: ConnectionCertificate | undefined, isHttp2: boolean): Client => {
  const remoteAddress = socket.remoteAddress ?? ''
  return {
    remoteAddress,
    certificate,
    client: clientKey(remoteAddress),
    isHttp2,
    get unsentBytes() {
      return socket.writableLength
    },
    serveHttp1: (options) => serveHttp1(socket, options),
    stream: () => socket,
    onClosed: (callback) => void socket.once('close', callback),
    destroy: () => void socket.destroy(),
  }
}
