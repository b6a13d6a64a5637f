// An acceptor in the event loop: sockets of Node.js, with or without TLS.
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Clock } from '../../../base/time/clock.ts'
import { clientKey } from '../../limits/client-key.ts'
import { TcpServer } from '../socket/tcp-server.ts'
import type { ClientCertificate } from '../../http/listener.ts'
import { clientCertificate, rootsOf } from '../socket/client-certificate.ts'
import type { AcceptedConnection, AcceptorOptions, OpenAcceptor } from './acceptor.ts'
import { serveHttp1 } from './http1-server.ts'

export const openEventLoopAcceptor: OpenAcceptor<AcceptorOptions & { readonly clock: Clock }> = async (
  { host, port, tls, limits, clock, onShed, acceptsH2c = false },
  onConnection,
) => {
  let roots = tls && rootsOf(tls)
  const onSocket = (socket: Socket, isHttp2: boolean) => {
    const secured = socket instanceof TLSSocket ? socket : undefined
    const certificate = secured && roots && clientCertificate(secured, roots)
    onConnection(connectionOn(socket, certificate, isHttp2))
  }
  const server = new TcpServer({ tls, limits, clock, onShed, acceptsH2c, onConnection: onSocket })
  const { address, port: boundPort } = await server.listen(port, host)
  return {
    host: address,
    port: boundPort,
    async renew(fresh) {
      server.renew(fresh)
      roots = rootsOf(fresh)
    },
    stopAccepting: () => server.stopAccepting(),
    close: () => server.close(),
  }
}

const connectionOn = (
  socket: Socket,
  certificate: ClientCertificate | undefined,
  isHttp2: boolean,
): AcceptedConnection => {
  const remoteAddress = socket.remoteAddress ?? ''
  return {
    remoteAddress,
    certificate,
    client: clientKey(remoteAddress),
    isHttp2,
    get unsentBytes() {
      return socket.writableLength
    },
    get sentBytes() {
      return socket.bytesWritten - socket.writableLength
    },
    serveHttp1: (options) => serveHttp1(socket, options),
    stream: () => socket,
    onClosed: (callback) => void socket.once('close', callback),
    destroy: () => void socket.destroy(),
  }
}
