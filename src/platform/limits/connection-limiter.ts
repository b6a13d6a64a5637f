// ConnectionLimiter: decides on accept whether a connection may be opened, and which unfinished handshake is closed for
// it. Independent of sockets.
import type { ListenLimits } from './listen-limits.ts'

type Limits = Pick<ListenLimits, 'connectionsMax' | 'connectionsPerClientMax' | 'handshakesMax'>

export type Acceptance<Connection> =
  /** `shed` must be closed to stay within the limits. */
  | { readonly kind: 'accepted'; readonly shed?: Connection }
  | { readonly kind: 'rejected'; readonly reason: 'connections' | 'connections-per-client' }

interface ClientConnections<Connection> {
  /** Handshakes included. */
  connections: number
  /** In order of arrival. */
  readonly handshakes: Set<Connection>
}

export class ConnectionLimiter<Connection> {
  readonly #limits: Limits
  readonly #clients = new Map<string, ClientConnections<Connection>>()
  #connections = 0
  #handshakes = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** Counts the connection as a handshake, unless it is rejected. */
  accept(client: string, connection: Connection): Acceptance<Connection> {
    const { connectionsMax, connectionsPerClientMax, handshakesMax } = this.#limits
    const own = this.#clients.get(client) ?? { connections: 0, handshakes: new Set() }
    if (own.connections >= connectionsPerClientMax) return { kind: 'rejected', reason: 'connections-per-client' }
    const isFull = this.#connections >= connectionsMax
    if (isFull && this.#handshakes === 0) return { kind: 'rejected', reason: 'connections' }
    const shed = isFull || this.#handshakes >= handshakesMax ? this.#oldestHandshake() : undefined
    this.#clients.set(client, own)
    own.connections++
    own.handshakes.add(connection)
    this.#connections++
    this.#handshakes++
    return shed === undefined ? { kind: 'accepted' } : { kind: 'accepted', shed }
  }

  /** The TLS handshake is complete, or there is none. */
  established(client: string, connection: Connection): void {
    if (this.#clients.get(client)?.handshakes.delete(connection) === true) this.#handshakes--
  }

  closed(client: string, connection: Connection): void {
    const own = this.#clients.get(client)
    if (own === undefined) return
    this.established(client, connection)
    this.#connections--
    if (--own.connections === 0) this.#clients.delete(client)
  }

  /** The oldest handshake of the client that has the most. */
  #oldestHandshake(): Connection | undefined {
    let most: Set<Connection> = new Set()
    for (const { handshakes } of this.#clients.values()) if (handshakes.size > most.size) most = handshakes
    const [oldest] = most
    return oldest
  }
}
