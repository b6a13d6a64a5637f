// The upstream servers of a resolv.conf, and the order in which they are tried.
import { parseIpsSloppy } from '../../base/net/sloppy-address.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'

export const dnsPort = 53
/** As many as the resolver of the system uses. */
const serversMax = 3
/** How long a server that failed is tried only after the others. */
const failedMs = 10_000

/** The servers of a resolv.conf, without addresses at which this server listens. */
export function upstreamServersOf(resolvConf: string, ownAddresses: readonly string[]): Peer[] {
  const own = new Set(parseIpsSloppy(ownAddresses))
  const named = resolvConf
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([word, address = '']) => (word === 'nameserver' ? [address] : []))
  return parseIpsSloppy(named)
    .filter((address) => !own.has(address))
    .slice(0, serversMax)
    .map((address) => ({ address, port: dnsPort }))
}

export class UpstreamServers {
  readonly #clock: Clock
  readonly #failedUntilMs = new Map<Peer, number>()
  #servers: readonly Peer[]

  constructor(servers: readonly Peer[], clock: Clock) {
    this.#servers = servers
    this.#clock = clock
  }

  get isEmpty(): boolean {
    return this.#servers.length === 0
  }

  get all(): readonly Peer[] {
    return this.#servers
  }

  /** In the order of the file; servers that failed recently are last. */
  inOrder(): readonly Peer[] {
    const nowMs = this.#clock.monotonicMs()
    const isFailed = (server: Peer) => (this.#failedUntilMs.get(server) ?? 0) > nowMs
    return [...this.#servers.filter((server) => !isFailed(server)), ...this.#servers.filter(isFailed)]
  }

  failed(server: Peer): void {
    this.#failedUntilMs.set(server, this.#clock.monotonicMs() + failedMs)
  }

  responded(server: Peer): void {
    this.#failedUntilMs.delete(server)
  }

  /** Never uses the server again. */
  remove(server: Peer): void {
    this.#servers = this.#servers.filter((other) => other !== server)
    this.#failedUntilMs.delete(server)
  }
}
