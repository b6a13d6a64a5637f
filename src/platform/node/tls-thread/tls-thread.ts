// The TLS thread: accepts connections, and passes bytes between clients and the event loop.
import { parentPort } from 'node:worker_threads'
import type { TLSSocket } from 'node:tls'
import { every, realClock } from '../../../base/time/clock.ts'
import type { ShedReason } from '../../limits/listen-limits.ts'
import { TcpServer } from '../socket/tcp-server.ts'
import { rootsOf, clientCertificate } from '../socket/client-certificate.ts'
import { Link } from './link.ts'
import { connectionIdOf, connectionIdsMax, type FromThread, type ThreadStart, type ToThread } from './protocol.ts'
import { ThreadConnection } from './thread-connection.ts'

const post = (message: FromThread) => parentPort?.postMessage(message)

class ThreadServer {
  readonly #connections = new Map<number, ThreadConnection>()
  /** Connections that are not read while the link is full. */
  readonly #held = new Set<ThreadConnection>()
  /** Reported once a second, so that a flood of connections does not cause a flood of messages. */
  readonly #shed = new Map<ShedReason, number>()
  readonly #link: Link
  readonly #server: TcpServer
  #roots: ReturnType<typeof rootsOf>
  #lastConnectionId = 0

  constructor({ memory, host, port, tls, limits }: ThreadStart) {
    this.#roots = rootsOf(tls)
    this.#link = new Link(memory, {
      wakePeer: () => post('wake'),
      onFrame: (tag, bytes) => this.#connections.get(connectionIdOf(tag))?.onFrame(tag, bytes),
      onRoom: () => {
        for (const connection of this.#held) connection.release()
      },
    })
    this.#server = new TcpServer({
      tls,
      limits,
      clock: realClock,
      onShed: (reason, count) => void this.#shed.set(reason, (this.#shed.get(reason) ?? 0) + count),
      onConnection: (socket) => this.#serve(socket as TLSSocket),
    })
    this.#server.listen(port, host).then(
      ({ address, port: taken }) => post({ host: address, port: taken }),
      ({ code = '', message }: NodeJS.ErrnoException) => post({ failed: { code, message } }),
    )
    every(realClock, 1_000, () => this.#tick())
    this.#link.onWake()
  }

  onMessage(message: Exclude<ToThread, ThreadStart>): void {
    if (message === 'wake') return this.#link.onWake()
    if (message === 'shut') return this.#server.stopAccepting()
    this.#server.renew(message.renew)
    this.#roots = rootsOf(message.renew)
    post('renewed')
  }

  #serve(socket: TLSSocket): void {
    const number = this.#newConnectionId()
    const connection = new ThreadConnection(socket, number, this.#link, this.#held)
    this.#connections.set(number, connection)
    socket.once('close', () => {
      this.#connections.delete(number)
      this.#held.delete(connection)
    })
    socket.setNoDelay(true)
    connection.open({
      remoteAddress: socket.remoteAddress ?? '',
      certificate: clientCertificate(socket, this.#roots),
      isHttp2: socket.alpnProtocol === 'h2',
    })
  }

  #newConnectionId(): number {
    do this.#lastConnectionId = (this.#lastConnectionId + 1) % connectionIdsMax
    while (this.#connections.has(this.#lastConnectionId))
    return this.#lastConnectionId
  }

  #tick(): void {
    for (const connection of this.#connections.values()) connection.tick()
    if (this.#shed.size === 0) return
    post({ shed: [...this.#shed] })
    this.#shed.clear()
  }
}

parentPort?.once('message', (start: ThreadStart) => {
  const server = new ThreadServer(start)
  parentPort?.on('message', (message: Exclude<ToThread, ThreadStart>) => server.onMessage(message))
})
