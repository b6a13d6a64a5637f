// An acceptor whose sockets and TLS are handled by a thread. Encryption and system calls are half of the cost of a
// request; with the thread, the event loop exchanges requests and responses with it through shared memory.
import { realClock } from '../../../base/time/clock.ts'
import { FairTurns } from '../../../base/work/fair-turns.ts'
import { Http1Connection } from '../../http1/http1-connection.ts'
import { clientKey } from '../../limits/client-key.ts'
import type { ListenTls } from '../../http/listener.ts'
import { threadModule } from '../../process/own-files.ts'
import type { WorkerHandle } from '../../process/workers.ts'
import type { AcceptedConnection, Acceptor, AcceptorOptions } from '../acceptor/acceptor.ts'
import { latin1Of } from '../acceptor/http1-server.ts'
import { nodeWorkers } from '../process/workers.ts'
import { Link, newLinkMemory, otherSide } from './link.ts'
import { LinkedSocket } from './linked-socket.ts'
import type { StreamSocket } from './linked-stream.ts'
import { fromClient, kindOf, connectionIdOf, type FromThread, type OpenedPeer, type ToThread } from './protocol.ts'

export type TlsWorker = WorkerHandle<ToThread, FromThread>

/** The thread waits for `openThreadAcceptor`. */
export const startThread = (): TlsWorker => nodeWorkers.start(threadModule('tls-thread', import.meta.url), undefined)

export async function openThreadAcceptor(
  thread: TlsWorker,
  { host, port, tls, limits, onShed }: AcceptorOptions & { readonly tls: ListenTls },
  onConnection: (client: AcceptedConnection) => void,
): Promise<Acceptor> {
  const memory = newLinkMemory()
  thread.post({ memory: otherSide(memory), host, port, tls, limits })
  const sockets = new Map<number, LinkedSocket>()
  const turns = new FairTurns<StreamSocket>(realClock)
  const opened = (number: number): LinkedSocket => {
    const socket = new LinkedSocket(link, number)
    sockets.set(number, socket)
    socket.onClosed(() => sockets.delete(number))
    return socket
  }
  const link = new Link(memory, {
    wakePeer: () => thread.post('wake'),
    onFrame(tag, bytes) {
      if (kindOf(tag) !== fromClient.opened) sockets.get(connectionIdOf(tag))?.onFrame(tag, bytes)
      else onConnection(connectionOn(opened(connectionIdOf(tag)), JSON.parse(bytes.toString()) as OpenedPeer, turns))
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
  turns: FairTurns<StreamSocket>,
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
    stream: () => socket.stream(turns),
    onClosed: (callback) => socket.onClosed(callback),
    destroy: () => socket.destroy(),
  }
}
