// LoopProbe: finds upstream servers that forward queries back to this server. Each gets one query for a random name; if
// that name is asked here, the server is no longer used. Otherwise every query for an outside name would circulate.
import type { Log } from '../../base/observability/log.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'
import { recordType } from '../message/record.ts'
import { exchange, type ExchangeDeps } from './upstream-exchange.ts'
import type { UpstreamServers } from './upstream-servers.ts'

/** How long a loop may take to return the query. */
const probeMs = 5_000
const nameBytes = 16

export interface LoopProbeDeps extends ExchangeDeps {
  readonly log: Log
}

export class LoopProbe {
  readonly #servers: UpstreamServers
  readonly #deps: LoopProbeDeps
  readonly #probed = new Map<string, Peer>()

  constructor(servers: UpstreamServers, deps: LoopProbeDeps) {
    this.#servers = servers
    this.#deps = deps
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#servers.all.map((server) => this.#probe(server, signal)))
  }

  /** Whether the name is one of the probes; its server is then removed. */
  hasReturned(name: string): boolean {
    const server = this.#probed.get(name)
    if (server === undefined) return false
    this.#probed.delete(name)
    this.#servers.remove(server)
    this.#deps.log.warn('an upstream DNS server forwards queries to this server and is not used', {
      address: server.address,
    })
    return true
  }

  async #probe(server: Peer, signal: AbortSignal): Promise<void> {
    const name = `${this.#deps.random.bytes(nameBytes).toHex()}.loop-probe`
    this.#probed.set(name, server)
    const question = { question: { name, type: recordType.HINFO }, dnssecOk: false, checkingDisabled: false }
    await exchange(this.#deps, server, question, probeMs, signal)
    this.#probed.delete(name)
  }
}
