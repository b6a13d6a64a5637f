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
/** For a port that is free for UDP and TCP. */
const attemptsMax = 5

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

  /** Port 0 selects one that is free for both protocols. */
  async listen(host: string, port: number): Promise<Peer> {
    for (let attempt = 1; ; attempt++)
      try {
        return await this.#listenOnce(host, port)
      } catch (error) {
        // The port that UDP got may be in use for TCP.
        if (port !== 0 || attempt === attemptsMax) throw error
      }
  }

  async #listenOnce(host: string, port: number): Promise<Peer> {
    const { sockets, handler, clock } = this.#deps
    const socket = await sockets.bindDatagrams({
      host,
      port,
      onDatagram: (bytes, from) => this.#onDatagram(socket, bytes, from),
    })
    try {
      const listener = await sockets.listenStreams({
        host,
        port: socket.port,
        connectionsMax,
        connectionsPerClientMax,
        onConnection: (stream, { address }) =>
          void serveStream(stream, (query) => handler.respond(query, 'tcp', address), clock),
      })
      this.#listeners.push(listener)
    } catch (error) {
      socket.close()
      throw error
    }
    this.#datagrams.push(socket)
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
