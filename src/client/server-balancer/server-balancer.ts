// ServerBalancer: a TCP balancer at a loopback address, through which all clients of a node reach the API servers. TLS is
// between client and server. It checks the servers, connects to the first that is ready, and closes the connections to one
// that has failed, so that clients resume at another.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import type { Peer, Sockets } from '../../platform/sockets/sockets.ts'
import { joinStreams } from '../../wire/byte-pipe.ts'
import type { AvoidedServers } from './avoided-servers.ts'
import { BalancedServers, serverName, type BalancedServer, type CheckOutcome } from './balanced-servers.ts'
import type { ReadinessProbe } from './readiness-probe.ts'

/** How often a server with connections is checked, and another one. */
const checkEveryMs = 1_000
const checkIdleEveryMs = 5_000
/** After a failure the server is checked again soon: the second failure in a row closes its connections. */
const checkAgainMs = 250
const checkMsMax = 1_500
const connectMsMax = 1_500
const connectionsMax = 1_024

export interface ServerBalancerDeps {
  readonly sockets: Pick<Sockets, 'listenStreams' | 'connectStream'>
  readonly probe: ReadinessProbe
  readonly clock: Clock
  readonly log: Log
}

export interface ServerBalancerOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** The server with which the machine joined. It stays known whatever the cluster lists. */
  readonly fallback: Peer
  /** A hash of the name of a server that differs between nodes. */
  readonly preferenceOf: (name: string) => string
}

/** The checks of one server. */
interface Checks {
  readonly ending: AbortController
  /** Begins the next check now. */
  checkNow: () => void
}

interface Connection {
  readonly client: ByteStream
  readonly server: ByteStream
}

export class ServerBalancer implements AsyncDisposable {
  readonly #deps: ServerBalancerDeps
  readonly #options: ServerBalancerOptions
  readonly #servers: BalancedServers
  readonly #connections = new Map<string, Set<Connection>>()
  readonly #checks = new Map<string, Checks>()
  readonly #stop = new AbortController()
  readonly #avoidedHandlers: (() => void)[] = []
  #avoided: readonly string[] = []
  #listening: { readonly port: number; close(): Promise<void> } | undefined

  constructor(options: ServerBalancerOptions, deps: ServerBalancerDeps) {
    this.#options = options
    this.#deps = deps
    this.#servers = new BalancedServers(options.fallback, options.preferenceOf)
  }

  /** Listens and begins the checks. */
  async start(): Promise<Peer> {
    const { host, port } = this.#options
    const listening = await this.#deps.sockets.listenStreams({
      host,
      port,
      connectionsMax,
      connectionsPerClientMax: connectionsMax, // all clients have the same address
      onConnection: (client) => void this.#forward(client),
    })
    this.#listening = listening
    for (const server of this.#servers.inOrder()) this.#startChecks(server)
    return { address: host, port: listening.port }
  }

  /** Uses the servers that the cluster lists. An empty list is ignored: a server has sent it. */
  list(peers: readonly Peer[]): void {
    if (peers.length === 0) return
    for (const server of this.#servers.list(peers)) if (this.#listening !== undefined) this.#startChecks(server)
    for (const { name } of this.#servers.inOrder()) this.#removeIfUnused(name)
  }

  /** The servers, the first being the one that the next connection tries first. */
  servers(): readonly BalancedServer[] {
    return this.#servers.inOrder()
  }

  readonly avoided: AvoidedServers = {
    has: (server) => this.#avoided.includes(serverName(server)),
    onChange: (handler) => void this.#avoidedHandlers.push(handler),
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new DOMException('the balancer was stopped', 'AbortError'))
    for (const name of this.#connections.keys()) this.#closeConnections(name)
    for (const { peer } of this.#servers.inOrder()) this.#deps.probe.forget(peer)
    await this.#listening?.close()
  }

  async #forward(client: ByteStream): Promise<void> {
    const found = await this.#connect()
    if (found === undefined || this.#stop.signal.aborted) {
      found?.stream.destroy()
      return client.destroy()
    }
    const { name, stream: server } = found
    const connection = { client, server }
    const open = getOrInsert(this.#connections, name, () => new Set())
    open.add(connection)
    if (open.size === 1) this.#checks.get(name)?.checkNow()
    try {
      await joinStreams(client, server)
    } finally {
      open.delete(connection)
      if (open.size === 0 && this.#connections.get(name) === open) this.#connections.delete(name)
      this.#removeIfUnused(name)
    }
  }

  /** A connection to the first server that accepts one. */
  async #connect(): Promise<{ readonly name: string; readonly stream: ByteStream } | undefined> {
    for (const { name, peer } of this.#servers.inOrder()) {
      if (this.#stop.signal.aborted) return undefined
      try {
        const stream = await this.#within(connectMsMax, (signal) => this.#deps.sockets.connectStream(peer, signal))
        return { name, stream }
      } catch (error) {
        this.#deps.log.debug('an API server cannot be reached', { server: name, error: errorText(error) })
      }
    }
    return undefined
  }

  #startChecks({ name, peer }: BalancedServer): void {
    const checks: Checks = { ending: new AbortController(), checkNow: () => {} }
    this.#checks.set(name, checks)
    void this.#check(name, peer, checks, AbortSignal.any([checks.ending.signal, this.#stop.signal]))
  }

  async #check(name: string, peer: Peer, checks: Checks, signal: AbortSignal): Promise<void> {
    const { clock, probe } = this.#deps
    while (!signal.aborted) {
      let why = ''
      const outcome = await this.#within(checkMsMax, (limit) => probe.check(peer, limit)).then(
        (isReady): CheckOutcome => (isReady ? 'ready' : 'unready'),
        (error: unknown): CheckOutcome => {
          why = errorText(error)
          return 'failed'
        },
      )
      if (signal.aborted) return
      this.#note(name, outcome, why)
      const { health } = this.#servers.get(name) ?? {}
      const everyMs =
        health === 'failing' ? checkAgainMs : this.#connections.has(name) ? checkEveryMs : checkIdleEveryMs
      const early = new AbortController()
      checks.checkNow = () => early.abort()
      await clock.sleep(everyMs, AbortSignal.any([signal, early.signal])).catch(() => {}) // the loop checks the signal
    }
  }

  #note(name: string, outcome: CheckOutcome, why: string): void {
    const { log } = this.#deps
    const before = this.#servers.note(name, outcome)
    const after = this.#servers.get(name)?.health
    if (after === 'down' && before !== 'down') log.warn('an API server does not respond', { server: name, error: why })
    else if (before === 'down') log.info('an API server responds again', { server: name, health: after })
    // Without another server, clients have nothing to gain.
    for (const { name: each, health } of this.#servers.inOrder())
      if (health === 'down' && this.#servers.isAnyReady) this.#closeConnections(each)
    this.#removeIfUnused(name)
    this.#noteAvoided()
  }

  #noteAvoided(): void {
    const avoided = this.#servers.avoided()
    if (avoided.join() === this.#avoided.join()) return
    this.#avoided = avoided
    for (const handler of this.#avoidedHandlers) handler()
  }

  #closeConnections(name: string): void {
    const open = this.#connections.get(name)
    this.#connections.delete(name)
    for (const { client, server } of open ?? []) {
      client.destroy()
      server.destroy()
    }
  }

  #removeIfUnused(name: string): void {
    const peer = this.#servers.get(name)?.peer
    if (peer === undefined || this.#connections.has(name) || !this.#servers.remove(name)) return
    this.#checks.get(name)?.ending.abort()
    this.#checks.delete(name)
    this.#deps.probe.forget(peer)
  }

  async #within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = new AbortController()
    const timer = this.#deps.clock.after(ms, () => limit.abort(new Error(`there was no response within ${ms} ms`)))
    try {
      return await work(AbortSignal.any([limit.signal, this.#stop.signal]))
    } finally {
      timer.cancel()
    }
  }
}
