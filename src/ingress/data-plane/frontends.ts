// Frontends: the ports on which the proxy listens. Routes and certificates change while connections stay open.
import { errorText, type Log } from '../../base/observability/log.ts'
import { listenLimitsDefault } from '../../platform/limits/listen-limits.ts'
import type { KeyPair, Listener, ListenerProvider, ListenTls } from '../../platform/http/listener.ts'
import type { Certificates } from '../routing/certificate-table.ts'
import { RouteTable, type RouteFinder } from '../routing/route-table.ts'
import type { Sockets } from '../../platform/sockets/sockets.ts'
import type { ProxyHandler } from './proxy-handler.ts'
import type { TlsConnections, TlsEntry } from './tls-connections.ts'

/** tls: the contents of connections are forwarded, whatever their protocol. */
export type FrontendScheme = 'http' | 'https' | 'tls'

export interface FrontendSpec {
  /** Unique among the frontends. */
  readonly name: string
  /** The address on which it listens, if it is not that of the data plane. */
  readonly host?: string
  /** 0: any free port. */
  readonly port: number
  /** No other frontend shares its port: it has a port of its own at its address, to which a load balancer leads. */
  readonly isApart?: boolean
  /** The port that is opened, if it is not the one that clients use. */
  readonly boundPort?: number
  readonly scheme: FrontendScheme
  readonly routes: RouteFinder
  /** Not for HTTP. Connections of TLS without a certificate are forwarded as they are. */
  readonly certificates: Certificates
  /** For clients that name no known server; the common fallback certificate if absent. */
  readonly fallback?: KeyPair
}

export interface FrontendsDeps {
  readonly listeners: Pick<ListenerProvider, 'listen'>
  readonly handler: Pick<ProxyHandler, 'handle'>
  readonly sockets: Pick<Sockets, 'listenStreams'>
  readonly tlsConnections: Pick<TlsConnections, 'serve'>
  readonly host: string
  readonly fallback: KeyPair
  readonly log: Log
}

/** Whether a port is served; if not, why. */
export type PortState =
  | { readonly kind: 'open'; readonly port: number }
  | { readonly kind: 'failed'; readonly why: string }

interface Frontend {
  spec: FrontendSpec
  readonly listener: Pick<Listener, 'port' | 'close' | 'renew'>
}

interface CurrentFrontend {
  current: Frontend | undefined
}

/** How long responses may take after a port was removed or the proxy stops. */
const drainMs = 10_000

export class Frontends implements AsyncDisposable {
  readonly #deps: FrontendsDeps
  readonly #open = new Map<string, Frontend>()
  readonly #states = new Map<string, PortState>()

  constructor(deps: FrontendsDeps) {
    this.#deps = deps
  }

  /** By the name of the frontend. */
  get states(): ReadonlyMap<string, PortState> {
    return this.#states
  }

  /** Must not be called again before it has resolved. */
  async apply(specs: readonly FrontendSpec[]): Promise<void> {
    const wanted = new Map(specs.map((spec) => [spec.name, spec]))
    for (const [name, { spec }] of this.#open) {
      const next = wanted.get(name)
      if (next?.scheme !== spec.scheme || next.port !== spec.port) await this.#close(name)
    }
    for (const name of this.#states.keys()) if (!wanted.has(name)) this.#states.delete(name)
    for (const spec of wanted.values()) {
      const frontend = this.#open.get(spec.name)
      if (frontend === undefined) await this.#listen(spec)
      else await this.#update(frontend, spec)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Array.from(this.#open.keys(), (name) => this.#close(name)))
  }

  async #listen(spec: FrontendSpec): Promise<void> {
    const { log } = this.#deps
    const { name, host = this.#deps.host, port } = spec
    const frontend: CurrentFrontend = { current: undefined }
    try {
      const listener = await (spec.scheme === 'tls'
        ? this.#listenStreams(spec, frontend)
        : this.#listenHttp(spec, spec.scheme, frontend))
      frontend.current = { spec, listener }
      this.#open.set(name, frontend.current)
      this.#states.set(name, { kind: 'open', port: listener.port })
    } catch (error) {
      const why = errorText(error)
      if (this.#states.get(name)?.kind !== 'failed')
        log.warn('a port of the ingress cannot be opened', { host, port, why })
      this.#states.set(name, { kind: 'failed', why })
    }
  }

  #listenHttp(spec: FrontendSpec, scheme: 'http' | 'https', frontend: CurrentFrontend): Promise<Listener> {
    const { listeners, handler } = this.#deps
    const { host = this.#deps.host, port, boundPort = port } = spec
    const routes = () => frontend.current?.spec.routes ?? noRoutes
    const publicPort = () => (port === 0 ? (frontend.current?.listener.port ?? port) : port)
    return listeners.listen({
      host,
      port: boundPort,
      compresses: false,
      handle: (request) => handler.handle(request, { scheme, port: publicPort(), routes }),
      ...(scheme === 'https' ? { tls: this.#tls(spec) } : { acceptsH2c: true }),
    })
  }

  /** Connections end with the port; what they transmit is not known. */
  async #listenStreams(spec: FrontendSpec, frontend: CurrentFrontend): Promise<Frontend['listener']> {
    const { sockets, tlsConnections } = this.#deps
    const { host = this.#deps.host, port, boundPort = port } = spec
    const { connectionsMax, connectionsPerClientMax } = listenLimitsDefault
    const listener = await sockets.listenStreams({
      host,
      port: boundPort,
      connectionsMax,
      connectionsPerClientMax,
      onConnection: (stream, from) => void tlsConnections.serve(stream, from, frontend.current?.spec ?? noEntry),
    })
    return { port: listener.port, close: () => listener.close(), renew: async () => {} }
  }

  async #update(frontend: Frontend, spec: FrontendSpec): Promise<void> {
    const before = frontend.spec
    frontend.spec = spec
    // Other certificates are looked up for each handshake.
    if (spec.scheme === 'https' && !isEqualPair(before.fallback, spec.fallback))
      await frontend.listener.renew(this.#tls(spec))
  }

  #tls({ name, fallback = this.#deps.fallback }: FrontendSpec): ListenTls {
    const certificateOf = (serverName: string) => certificateFor(this.#open.get(name)?.spec.certificates, serverName)
    return { ...fallback, clientAuthorities: {}, certificateOf }
  }

  async #close(name: string): Promise<void> {
    const frontend = this.#open.get(name)
    this.#open.delete(name)
    this.#states.delete(name)
    await frontend?.listener.close(drainMs)
  }
}

const noRoutes = new RouteTable([])
const noEntry: TlsEntry = { routes: noRoutes, certificates: new Map<string, KeyPair>() }

/** An exact name is more specific than a wildcard. */
const certificateFor = (certificates: Certificates | undefined, name: string): KeyPair | undefined =>
  certificates?.get(name) ?? certificates?.get(`*${name.slice(Math.max(name.indexOf('.'), 0))}`)

const isEqualPair = (a: KeyPair | undefined, b: KeyPair | undefined): boolean =>
  a?.certificate === b?.certificate && a?.key === b?.key
