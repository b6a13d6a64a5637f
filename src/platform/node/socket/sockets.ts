// Sockets on Node.js.
import { once } from 'node:events'
import { connect } from 'node:net'
import { realClock } from '../../../base/time/clock.ts'
import { listenLimitsDefault } from '../../limits/listen-limits.ts'
import type { Sockets } from '../../sockets/sockets.ts'
import { bindDatagrams, connectDatagrams } from './datagram-socket.ts'
import { byteStreamOn } from './socket-byte-stream.ts'
import { TcpServer } from './tcp-server.ts'
import { acceptTls } from './accept-tls.ts'

export const nodeSockets: Sockets = {
  bindDatagrams,
  connectDatagrams,
  async listenStreams({ host, port, connectionsMax, connectionsPerClientMax, onConnection }) {
    const server = new TcpServer({
      tls: undefined,
      limits: { ...listenLimitsDefault, connectionsMax, connectionsPerClientMax },
      clock: realClock,
      onShed: () => {},
      onConnection(socket) {
        socket.setNoDelay(true)
        onConnection(byteStreamOn(socket), { address: socket.remoteAddress ?? '', port: socket.remotePort ?? 0 })
      },
    })
    const { address, port: boundPort } = await server.listen(port, host)
    return {
      host: address,
      port: boundPort,
      close() {
        server.stopAccepting()
        return server.close()
      },
    }
  },
  async connectStream({ address, port }, signal) {
    signal.throwIfAborted()
    const socket = connect({ host: address, port, noDelay: true })
    try {
      await once(socket, 'connect', { signal })
    } catch (error) {
      socket.destroy()
      throw error
    }
    return byteStreamOn(socket)
  },
  acceptTls,
}
