// DataPlane: the proxy that Ingresses and Gateways share: its ports, the connections to endpoints, and the handler of
// requests. If both use a port, routes of Gateways are tried first.
import type { Service } from '../../api/core/v1/service/service.ts'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { onAbort } from '../../base/async/on-abort.ts'
import { SerialOperations } from '../../base/async/serial-operations.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import type { Clock, Timer } from '../../base/time/clock.ts'
import type { Informer } from '../../client/informer/informer.ts'
import type { Http2Provider } from '../../platform/http/http2-client.ts'
import type { HttpPoolProvider } from '../../platform/http/http-pool.ts'
import type { KeyPair, ListenerProvider } from '../../platform/http/listener.ts'
import type { OutboundProvider } from '../../platform/http/outbound.ts'
import type { Sockets } from '../../platform/sockets/sockets.ts'
import { ServiceEndpoints } from '../backends/service-endpoints.ts'
import { RequestRecorder, type AccessLogLevel } from './access-log.ts'
import { BackendPools } from './backend-pools.ts'
import { Frontends, type FrontendSpec, type PortState } from './frontends.ts'
import type { IngressMetrics } from './ingress-metrics.ts'
import { ProxyHandler, proxyLimitsDefault, type ProxyLimits } from './proxy-handler.ts'
import { TlsConnections, tlsConnectionLimitsDefault } from './tls-connections.ts'

export interface DataPlaneDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly flow: FlowRecorder
  readonly metrics: IngressMetrics
  readonly services: Informer<Service>
  readonly endpointSlices: Informer<EndpointSlice>
  readonly listeners: Pick<ListenerProvider, 'listen'>
  readonly http1: HttpPoolProvider
  readonly http2: Http2Provider
  readonly outbound: Pick<OutboundProvider, 'exchange'>
  readonly sockets: Pick<Sockets, 'acceptTls' | 'connectStream' | 'listenStreams'>
}

export interface DataPlaneSettings {
  /** The address on which the proxy listens. */
  readonly host: string
  /** The certificate for clients that name no known server. */
  readonly fallback: KeyPair
  readonly accessLog: AccessLogLevel
  readonly limits?: Partial<ProxyLimits>
}

/** How long after a failure the opening of a port is tried again; a program that used it may have ended. */
export const portRetryMs = 5_000

/** In the order in which their routes are tried. */
const users = ['gateway', 'ingress'] as const
export type DataPlaneUser = (typeof users)[number]

export class DataPlane implements AsyncDisposable {
  readonly #endpoints: ServiceEndpoints
  readonly #pools: BackendPools
  readonly #frontends: Frontends
  readonly #specs = new Map<DataPlaneUser, readonly FrontendSpec[]>()
  readonly #onPortRetry: (() => void)[] = []
  readonly #clock: Clock
  #portRetry: Timer | undefined
  #isClosingPlanned = false
  /** Changes are applied one after the other. */
  readonly #changes = new SerialOperations()

  constructor(deps: DataPlaneDeps, settings: DataPlaneSettings) {
    this.#clock = deps.clock
    this.#pools = new BackendPools(deps.http1, deps.http2)
    this.#endpoints = new ServiceEndpoints(deps.services, deps.endpointSlices, () => void this.#closeStaleConnections())
    const recorder = new RequestRecorder({ ...deps, accessLog: settings.accessLog })
    const limits = { ...proxyLimitsDefault, ...settings.limits }
    const handler = new ProxyHandler({ ...deps, endpoints: this.#endpoints, pools: this.#pools, recorder, limits })
    const tlsConnections = new TlsConnections({
      ...deps,
      endpoints: this.#endpoints,
      recorder,
      limits: tlsConnectionLimitsDefault,
    })
    this.#frontends = new Frontends({
      ...deps,
      handler,
      tlsConnections,
      host: settings.host,
      fallback: settings.fallback,
    })
  }

  /** Calls back when a port could not be opened a while ago: `apply` tries it again. */
  onPortRetry(callback: () => void): void {
    this.#onPortRetry.push(callback)
  }

  /** Replaces the ports of one user. Resolves when they are open or have failed. */
  async apply(user: DataPlaneUser, specs: readonly FrontendSpec[]): Promise<void> {
    this.#specs.set(user, specs)
    await this.#changes.run('frontends', () =>
      this.#frontends.apply(mergedSpecs(users.map((each) => this.#specs.get(each) ?? []))),
    )
    this.#retryPorts()
  }

  #retryPorts(): void {
    const isAnyFailed = this.#frontends.states.values().some(({ kind }) => kind === 'failed')
    if (!isAnyFailed || this.#portRetry !== undefined) return
    this.#portRetry = this.#clock.after(portRetryMs, () => {
      this.#portRetry = undefined
      for (const callback of this.#onPortRetry) callback()
    })
  }

  /** The ports that a user occupies, by number. */
  portsOf(user: DataPlaneUser): ReadonlyMap<number, FrontendSpec['scheme']> {
    return new Map((this.#specs.get(user) ?? []).map(({ port, scheme }) => [port, scheme]))
  }

  stateOf(spec: Place): PortState | undefined {
    return this.#frontends.states.get(frontendKey(spec))
  }

  /** Closes the connections to endpoints that no Service has any more, once for all changes of a turn. */
  async #closeStaleConnections(): Promise<void> {
    if (this.#isClosingPlanned) return
    this.#isClosingPlanned = true
    await this.#clock.outside(eventLoopTurn())
    this.#isClosingPlanned = false
    this.#pools.retain((server) => this.#endpoints.has(server))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#portRetry?.cancel()
    await this.#changes.run('frontends', () => this.#frontends[Symbol.asyncDispose]())
    await this.#pools[Symbol.asyncDispose]()
  }
}

/** The data plane ends with the tasks, after its current responses. */
export function startDataPlane(deps: DataPlaneDeps, settings: DataPlaneSettings, tasks: TaskGroup): DataPlane {
  const dataPlane = new DataPlane(deps, settings)
  tasks.start('data plane of the ingress', async (signal) => {
    if (!signal.aborted) await new Promise<void>((resolve) => onAbort(signal, resolve))
    await dataPlane[Symbol.asyncDispose]()
  })
  return dataPlane
}

type Place = Pick<FrontendSpec, 'name' | 'host' | 'port' | 'isApart'>

const frontendKey = ({ name, host = '', port, isApart = false }: Place): string =>
  port === 0 || isApart ? name : `${host}:${port}`

/** One spec for each port of an address. A spec with another scheme than an earlier one of its port is left out. */
export function mergedSpecs(bySource: readonly (readonly FrontendSpec[])[]): readonly FrontendSpec[] {
  const merged = new Map<string, FrontendSpec>()
  for (const spec of bySource.flat()) {
    const name = frontendKey(spec)
    const first = merged.get(name)
    if (first === undefined) merged.set(name, { ...spec, name })
    else if (first.scheme === spec.scheme) merged.set(name, both(first, spec))
  }
  return [...merged.values()]
}

const both = (first: FrontendSpec, second: FrontendSpec): FrontendSpec => ({
  ...first,
  routes: { find: (request) => first.routes.find(request) ?? second.routes.find(request) },
  certificates: { get: (name) => first.certificates.get(name) ?? second.certificates.get(name) },
})
