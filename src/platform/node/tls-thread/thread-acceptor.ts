// An acceptor whose sockets and TLS are handled by a thread. Encryption and system calls are half of the cost of a
// request; with the thread, the event loop exchanges requests and responses with it through shared memory.
import { Http1Connection } from '../../http1/http1-connection.ts'
import { clientKey } from '../../limits/client-key.ts'
import type { ListenTls } from '../../http/listener.ts'
import { threadModule } from '../../process/workers.ts'
import type { AcceptedConnection, AcceptorOptions, OpenAcceptor } from '../acceptor/acceptor.ts'
import { latin1Of } from '../acceptor/http1-server.ts'
import { nodeWorkers } from '../process/workers.ts'
import { Link, newLinkMemory, otherSide } from './link.ts'
import { LinkedSocket } from './linked-socket.ts'
import {
  fromClient,
  kindOf,
  connectionIdOf,
  type FromThread,
  type OpenedPeer,
  type ThreadStart,
  type ToThread,
} from './protocol.ts'

export const openThreadAcceptor: OpenAcceptor<AcceptorOptions & { readonly tls: ListenTls }> = async (
  { host, port, tls, limits, onShed },
  onConnection,
) => {
  const memory = newLinkMemory()
  const start: ThreadStart = { memory: otherSide(memory), host, port, tls, limits }
  const thread = nodeWorkers.start<ToThread, FromThread>(threadModule('tls-thread', import.meta.url), start)
  const sockets = new Map<number, LinkedSocket>()
  const open = (number: number, bytes: Buffer) => {
    const socket = new LinkedSocket(link, number)
    sockets.set(number, socket)
    socket.onClosed(() => sockets.delete(number))
    onConnection(connectionOn(socket, JSON.parse(bytes.toString()) as OpenedPeer))
  }
  const link = new Link(memory, {
    wakePeer: () => thread.post('wake'),
    onFrame(tag, bytes) {
      if (kindOf(tag) === fromClient.opened) open(connectionIdOf(tag), bytes)
      else sockets.get(connectionIdOf(tag))?.onFrame(tag, bytes)
    },
    onRoom() {},
  })
  const renewals: PromiseWithResolvers<void>[] = []
  const listening = Promise.withResolvers<{ host: string; port: number }>()
  thread.listen(
    (message) => {
      if (message === 'wake') link.onWake()
      else if (message === 'renewed') renewals.shift()?.resolve()
      else if ('shed' in message) for (const [reason, count] of message.shed) onShed(reason, count, 0)
      else if ('failed' in message) listening.reject(Object.assign(new Error(message.failed.message), message.failed))
      else listening.resolve(message)
    },
    (error) => {
      if (error === undefined) return
      listening.reject(error)
      // No connection can be served any more, so this is as fatal as an exception in the event loop.
      throw error
    },
  )
  link.onWake()
  const address = await listening.promise.catch(async (error: unknown) => {
    await thread.stop()
    throw error
  })
  return {
    ...address,
    renew(fresh) {
      const renewed = Promise.withResolvers<void>()
      renewals.push(renewed)
      thread.post({ renew: fresh })
      return renewed.promise
    },
    stopAccepting: () => thread.post('shut'),
    async close() {
      for (const socket of sockets.values()) socket.destroy()
      await thread.stop()
      for (const socket of sockets.values()) socket.onSocketClosed()
      // No new connection can use the new certificate.
      for (const renewed of renewals) renewed.resolve()
    },
  }
}

const connectionOn = (
  socket: LinkedSocket,
  { remoteAddress, certificate, isHttp2 }: OpenedPeer,
): AcceptedConnection => {
  return {
    remoteAddress,
    certificate,
    client: clientKey(remoteAddress),
    isHttp2,
    get unsentBytes() {
      return socket.unsentBytes
    },
    get sentBytes() {
      return socket.sentBytes
    },
    serveHttp1(options) {
      const connection = new Http1Connection(socket, { ...options, textOf: latin1Of })
      socket.handleWith(connection)
      return connection
    },
    stream: () => socket.stream(),
    onClosed: (callback) => socket.onClosed(callback),
    destroy: () => socket.destroy(),
  }
}
