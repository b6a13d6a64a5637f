// DnsServer: the sockets of a DNS server. Each address has UDP and TCP on the same port.
import { thenMaybe } from '../base/async/maybe-promise.ts'
import type { Clock } from '../base/time/clock.ts'
import type { DatagramSocket, Peer, Sockets, StreamListener } from '../platform/sockets/sockets.ts'
import type { QueryHandler } from './server/query-handler.ts'
import { serveStream } from './server/stream-session.ts'

export interface DnsServerDeps {
  readonly handler: Pick<QueryHandler, 'respond'>
  readonly sockets: Pick<Sockets, 'bindDatagrams' | 'listenStreams'>
  readonly clock: Clock
}

const connectionsMax = 500
const connectionsPerClientMax = 50

export class DnsServer {
  readonly #deps: DnsServerDeps
  readonly #datagrams: DatagramSocket[] = []
  readonly #listeners: StreamListener[] = []

  constructor(deps: DnsServerDeps) {
    this.#deps = deps
  }

  /** Where it listens. */
  get addresses(): readonly Peer[] {
    return this.#datagrams.map(({ host, port }) => ({ address: host, port }))
  }

  /** Port 0 selects a free one. */
  async listen(host: string, port: number): Promise<Peer> {
    const { sockets } = this.#deps
    const socket = await sockets.bindDatagrams({
      host,
      port,
      onDatagram: (bytes, from) => this.#onDatagram(socket, bytes, from),
    })
    this.#datagrams.push(socket)
    this.#listeners.push(
      await sockets.listenStreams({
        ...{ host, port: socket.port, connectionsMax, connectionsPerClientMax },
        onConnection: (stream, { address }) =>
          void serveStream(stream, (query) => this.#deps.handler.respond(query, 'tcp', address), this.#deps.clock),
      }),
    )
    return { address: socket.host, port: socket.port }
  }

  async close(): Promise<void> {
    for (const socket of this.#datagrams) socket.close()
    await Promise.all(this.#listeners.map((listener) => listener.close()))
  }

  #onDatagram(socket: DatagramSocket, bytes: Uint8Array, from: Peer): void {
    void thenMaybe(this.#deps.handler.respond(bytes, 'udp', from.address), (response) => {
      if (response !== undefined) socket.send(response, from)
    })
  }
}
