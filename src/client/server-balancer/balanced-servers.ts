// BalancedServers: the API servers that a node knows, their health, and the order in which connections try them. Each node
// prefers another server, so that the nodes of a cluster are spread, and one node uses one server while it is ready.
import { joinHostPort } from '../../base/net/host-port.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'

/** `failing`: the last check failed; connections are kept. `down`: several checks in a row failed. */
export type ServerHealth = 'ready' | 'unknown' | 'unready' | 'failing' | 'down'

/** What a check found. A server that responds but is not ready, as while it starts, is `unready`. */
export type CheckOutcome = 'ready' | 'unready' | 'failed'

export interface BalancedServer {
  readonly name: string
  readonly peer: Peer
  readonly health: ServerHealth
  /** Whether the cluster lists it. Others are used when no listed server can be reached. */
  readonly isListed: boolean
}

interface Entry extends BalancedServer {
  readonly preference: string
  health: ServerHealth
  isListed: boolean
}

const isUsable = (health: ServerHealth): boolean => health !== 'down' && health !== 'unready'

/** Further servers are ignored. */
export const serversMax = 32

const ranks: Readonly<Record<ServerHealth, number>> = { ready: 0, unknown: 1, unready: 2, failing: 3, down: 4 }

export const serverName = ({ address, port }: Peer): string => joinHostPort(address, port)

export class BalancedServers {
  readonly #entries = new Map<string, Entry>()
  readonly #fallback: string
  readonly #preferenceOf: (name: string) => string

  /** The fallback stays known whatever the cluster lists. `preferenceOf` is a hash that differs between nodes. */
  constructor(fallback: Peer, preferenceOf: (name: string) => string) {
    this.#fallback = serverName(fallback)
    this.#preferenceOf = preferenceOf
    this.#add(fallback, false)
  }

  /** Replaces what the cluster lists. Returns the servers that are new; servers that are no longer listed stay until `remove`. */
  list(peers: readonly Peer[]): readonly BalancedServer[] {
    const listed = new Map(peers.slice(0, serversMax).map((peer) => [serverName(peer), peer]))
    for (const entry of this.#entries.values()) entry.isListed = listed.has(entry.name)
    return [...listed].filter(([name]) => !this.#entries.has(name)).map(([, peer]) => this.#add(peer, true))
  }

  /** Forgets a server that the cluster does not list. Returns whether it did. */
  remove(name: string): boolean {
    const entry = this.#entries.get(name)
    if (entry === undefined || entry.isListed || name === this.#fallback) return false
    return this.#entries.delete(name)
  }

  /** Notes the outcome of a check. Returns the health before. */
  note(name: string, outcome: CheckOutcome): ServerHealth | undefined {
    const entry = this.#entries.get(name)
    if (entry === undefined) return undefined
    const before = entry.health
    entry.health = outcome === 'failed' ? (before === 'failing' || before === 'down' ? 'down' : 'failing') : outcome
    return before
  }

  get(name: string): BalancedServer | undefined {
    return this.#entries.get(name)
  }

  /** All servers, in the order in which a connection tries them. */
  inOrder(): readonly BalancedServer[] {
    return [...this.#entries.values()].toSorted(
      (one, other) =>
        ranks[one.health] - ranks[other.health] ||
        Number(other.isListed) - Number(one.isListed) ||
        (one.preference < other.preference ? -1 : 1),
    )
  }

  /** Those that get no new connections, because they failed or are not ready while another one is. */
  avoided(): readonly string[] {
    if (!this.isAnyReady) return []
    return [...this.#entries.values()].flatMap(({ name, health }) => (isUsable(health) ? [] : [name]))
  }

  get isAnyReady(): boolean {
    return this.#entries.values().some(({ health }) => health === 'ready')
  }

  #add(peer: Peer, isListed: boolean): BalancedServer {
    const name = serverName(peer)
    const entry: Entry = { name, peer, isListed, health: 'unknown', preference: this.#preferenceOf(name) }
    this.#entries.set(name, entry)
    return entry
  }
}
