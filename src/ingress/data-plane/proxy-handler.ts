// ProxyHandler: one request: the route, its filters, an endpoint of its Service, and another endpoint if the first does not
// respond. 404 without a route, 503 without an endpoint, 502 if no endpoint responds, 504 if none responds in time.
import type { Random } from '../../base/random/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import { isAmbiguousPath } from '../routing/ambiguous-path.ts'
import { BodyTooLarge, type StreamedRequest, type WireResponse } from '../../platform/http/listener.ts'
import { NotSent, type PooledResponse } from '../../platform/http/http-pool.ts'
import type { OutboundProvider } from '../../platform/http/outbound.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'
import { nextEndpoint } from '../backends/next-endpoint.ts'
import type { ServiceEndpoints } from '../backends/service-endpoints.ts'
import { applyCors, isPreflight, preflightHeaders, type CorsPolicy, type CorsRequest } from '../routing/cors.ts'
import { changedPath, filtersOf, redirectLocation, type Headers } from '../routing/filters.ts'
import type { HeaderChanges } from '../routing/header-changes.ts'
import type { Backend, BackendProtocol, Filter, Mirror, Route } from '../routing/route.ts'
import type { RouteFinder } from '../routing/route-table.ts'
import { selectBackend } from '../routing/select-backend.ts'
import { PatternWorkExceeded } from '../routing/text-pattern.ts'
import type { RequestRecorder } from './access-log.ts'
import type { BackendPools } from './backend-pools.ts'
import { CopiedBody } from './copied-body.ts'
import { forwardedHeaders, lengthOf, returnedHeaders, type Arrival } from './forwarded-request.ts'
import { Mirrors } from './mirrors.ts'
import { traceparentOf } from './trace-context.ts'
import { forwardUpgrade } from './upgrade.ts'

export interface ProxyLimits {
  /** Bodies that are forwarded over HTTP/1.1. Streams over HTTP/2 have no limit, because gRPC streams have no end. */
  readonly bodyBytesMax: number
  /** From the request to the head of the response, unless the route has its own limit. */
  readonly responseMsMax: number
  /** How many endpoints a request is sent to at most. */
  readonly attemptsMax: number
  /** How long both directions of an upgraded connection, such as a WebSocket, may be silent. */
  readonly upgradedIdleMsMax: number
}

export const proxyLimitsDefault: ProxyLimits = {
  bodyBytesMax: 1 << 30,
  responseMsMax: 60_000,
  attemptsMax: 3,
  upgradedIdleMsMax: 3_600_000,
}

export interface ProxyHandlerDeps {
  readonly clock: Clock
  readonly random: Random
  readonly endpoints: Pick<ServiceEndpoints, 'of'>
  readonly pools: Pick<BackendPools, 'of'>
  readonly outbound: Pick<OutboundProvider, 'exchange'>
  readonly recorder: Pick<RequestRecorder, 'begin' | 'finish' | 'forward' | 'served'>
  readonly limits: ProxyLimits
}

/** The port on which requests arrive. */
export interface Entry {
  readonly scheme: 'http' | 'https'
  readonly port: number
  readonly routes: () => RouteFinder
}

/** A response of the proxy itself. */
interface Refusal {
  readonly status: number
  readonly message: string
}

const idempotent = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PUT', 'TRACE'])

export class ProxyHandler {
  readonly #deps: ExchangeDeps

  constructor(deps: ProxyHandlerDeps) {
    this.#deps = { ...deps, mirrors: new Mirrors(deps) }
  }

  async handle(request: StreamedRequest, entry: Entry): Promise<WireResponse> {
    return new Exchange(request, entry, this.#deps).respond()
  }
}

interface ExchangeDeps extends ProxyHandlerDeps {
  readonly mirrors: Mirrors
}

class Exchange {
  readonly #request: StreamedRequest
  readonly #entry: Entry
  readonly #deps: ExchangeDeps
  readonly #startMs: number
  readonly #arrival: Arrival
  readonly #host: string
  readonly #path: string
  readonly #query: string
  readonly #traceparent: string
  #route: Route | undefined
  #backend: Backend | undefined
  #endpoint: string | undefined
  #attempts = 0
  #failure: string | undefined
  #cors: CorsPolicy | undefined

  constructor(request: StreamedRequest, entry: Entry, deps: ExchangeDeps) {
    this.#request = request
    this.#entry = entry
    this.#deps = deps
    this.#startMs = deps.clock.monotonicMs()
    const authority = request.headers[':authority'] ?? request.headers['host'] ?? ''
    this.#arrival = { scheme: entry.scheme, port: entry.port, authority }
    this.#host = hostOf(authority)
    const mark = request.target.indexOf('?')
    this.#path = mark < 0 ? request.target : request.target.slice(0, mark)
    this.#query = mark < 0 ? '' : request.target.slice(mark + 1)
    this.#traceparent = traceparentOf(request.headers['traceparent'], deps.random)
  }

  async respond(): Promise<WireResponse> {
    const { recorder } = this.#deps
    const { method } = this.#request
    if (!this.#path.startsWith('/') || isAmbiguousPath(this.#path))
      return this.#record(refused({ status: 400, message: 'the path of the request is not valid' }))
    let route: Route | undefined
    try {
      route = this.#found()
    } catch (error) {
      if (!(error instanceof PatternWorkExceeded)) throw error
      this.#failure = error.message
      return this.#record(refused({ status: 500, message: error.message }))
    }
    this.#route = route
    const event = recorder.begin({ method, host: this.#host, path: this.#path }, route?.name)
    const routed = await this.#routed(route, (endpoint) => recorder.forward(event, endpoint, route?.name))
    const response = this.#cors === undefined ? routed : this.#withCors(routed, this.#cors)
    recorder.finish(event, String(response.status))
    return this.#record(response)
  }

  /** Throws PatternWorkExceeded. */
  #found(): Route | undefined {
    const { method, headers } = this.#request
    return this.#entry.routes().find({
      method,
      host: this.#host,
      path: this.#path,
      query: this.#query,
      header: (name) => headers[name], // safe name: the record of headers has no prototype
    })
  }

  #record(response: WireResponse): WireResponse {
    const { recorder, clock } = this.#deps
    const backend = this.#backend
    recorder.served({
      method: this.#request.method,
      host: this.#host,
      path: this.#path,
      status: response.status,
      durationMs: clock.monotonicMs() - this.#startMs,
      client: this.#request.remoteAddress,
      route: this.#route?.name,
      service: backend && `${backend.namespace}/${backend.service}:${backend.port}`,
      endpoint: this.#endpoint,
      attempts: this.#attempts,
      traceparent: this.#traceparent,
      failure: this.#failure,
    })
    return response
  }

  async #routed(route: Route | undefined, onForward: OnForward): Promise<WireResponse> {
    if (route === undefined) return refused({ status: 404, message: 'no rule matches the host and path' })
    const { redirect, cors } = filtersOf(route.filters)
    this.#cors = cors
    if (this.#isPreflight) return preflightResponse
    if (redirect !== undefined) return this.#redirected(route, route.filters)
    const { status, message } =
      route.emptyStatus === 404
        ? { status: 404, message: 'the rule has no backend' }
        : { status: 500, message: 'the backend of the rule is not valid' }
    if (route.backends.length === 0) return refused({ status, message })
    const selected = selectBackend(route.backends, this.#deps.random)
    if (selected?.backend === undefined)
      return refused({ status: 500, message: 'the backend of the rule is not valid' })
    this.#backend = selected.backend
    const filters = selected.filters.length === 0 ? route.filters : [...route.filters, ...selected.filters]
    const own = filtersOf(filters)
    this.#cors = own.cors
    if (this.#isPreflight) return preflightResponse
    if (own.redirect !== undefined) return this.#redirected(route, filters)
    const { bodyBytes } = this.#request
    if (bodyBytes !== undefined && bodyBytes > this.#deps.limits.bodyBytesMax) return refused(tooLarge)
    return this.#forwarded(selected.backend, route, filters, onForward)
  }

  /** Preflight requests of routes with a policy for origins are not forwarded. */
  get #isPreflight(): boolean {
    return this.#cors !== undefined && isPreflight(this.#corsRequest)
  }

  get #corsRequest(): CorsRequest {
    const { method, headers } = this.#request
    return { method, header: (name) => headers[name] } // safe name: the record of headers has no prototype
  }

  #withCors(response: WireResponse, policy: CorsPolicy): WireResponse {
    const request = this.#corsRequest
    if (response === preflightResponse) return { ...response, headers: preflightHeaders(policy, request) }
    const headers = { ...response.headers }
    applyCors(headers, policy, request)
    return { ...response, headers }
  }

  #redirected(route: Route, filters: readonly Filter[]): WireResponse {
    const { redirect, responseHeaders } = filtersOf(filters)
    const { scheme, port } = this.#entry
    const from = { scheme, port, host: this.#host, path: this.#path, query: this.#query }
    const status = redirect?.statusCode ?? 302
    const location = redirectLocation(redirect ?? { statusCode: status }, from, route.match.path)
    return { status, headers: returnedHeaders({ headers: { location } }, responseHeaders), body: '' }
  }

  /** Sends the request to an endpoint, and to others while it has not been sent or may be repeated. */
  async #forwarded(
    backend: Backend,
    route: Route,
    filters: readonly Filter[],
    onForward: OnForward,
  ): Promise<WireResponse> {
    const { clock, endpoints, limits } = this.#deps
    const { requestHeaders, responseHeaders, rewrite, mirrors } = filtersOf(filters)
    const target = changedPath(this.#path, rewrite?.path, route.match.path) + (this.#query && `?${this.#query}`)
    const sent: SentRequest = { target, requestHeaders, hostname: rewrite?.hostname }
    const copied = mirrors.length === 0 ? undefined : this.#mirrored(sent, backend, mirrors)
    // The signal of the request is aborted by the deadline, until the response begins, and when the client disconnects.
    const { signal } = this.#request
    const responseMs = Math.min(route.requestMsMax ?? limits.responseMsMax, route.backendMsMax ?? Infinity)
    const timer =
      responseMs === Infinity ? undefined : clock.after(responseMs, () => this.#request.cancel(new ResponseTimeout()))
    const tried = new Set<Peer>()
    try {
      for (;;) {
        const endpoint = nextEndpoint(endpoints.of(backend), tried)
        if (endpoint === undefined && tried.size === 0)
          return refused({ status: 503, message: 'the Service has no ready endpoint' })
        if (endpoint === undefined) return refused(badGateway)
        tried.add(endpoint)
        this.#attempts++
        this.#endpoint = `${endpoint.address}:${endpoint.port}`
        const event = onForward(this.#endpoint)
        const attempt = { ...sent, backend, endpoint, responseHeaders, copied }
        try {
          const response = await this.#attempt(attempt, signal)
          this.#deps.recorder.finish(event, String(response.status))
          return response
        } catch (error) {
          this.#failure = (error as Error).message
          this.#deps.recorder.finish(event, this.#failure)
          if (error instanceof ResponseTimeout)
            return refused({ status: 504, message: 'the endpoint did not respond in time' })
          if (error instanceof BodyTooLarge) return refused(tooLarge)
          if (this.#request.signal.aborted) return refused({ status: 499, message: 'the client has disconnected' })
          if (!this.#mayRetry(error) || this.#attempts >= limits.attemptsMax) return refused(badGateway)
        }
      }
    } finally {
      timer?.cancel()
    }
  }

  /** A request that was not sent may be repeated; one without a body also if its method is idempotent. */
  #mayRetry(error: unknown): boolean {
    return error instanceof NotSent || (this.#request.bodyBytes === 0 && idempotent.has(this.#request.method))
  }

  async #attempt(attempt: Attempt, signal: AbortSignal): Promise<WireResponse> {
    const { clock, pools, limits, outbound } = this.#deps
    const { backend, endpoint, target, responseHeaders, copied } = attempt
    const { method, upgrade } = this.#request
    const protocol = backend.protocol
    const requested = upgrade ? this.#request.headers['upgrade'] : undefined
    const headers = this.#headers(protocol, attempt, requested)
    if (requested !== undefined) {
      const deps = {
        clock,
        outbound,
        endpoint,
        identity: backend.tls,
        responseHeaders,
        idleMsMax: limits.upgradedIdleMsMax,
      }
      return forwardUpgrade(deps, { method, target, headers }, signal)
    }
    const body = copied ?? this.#body(backend)
    const response = await pools.of(endpoint, backend).send({ method, target, headers, body }, signal)
    return wireResponse(response, responseHeaders)
  }

  #headers(protocol: BackendProtocol, { requestHeaders, hostname }: SentRequest, upgrade: string | undefined): Headers {
    const options = { protocol, hostname, changes: requestHeaders, traceparent: this.#traceparent, upgrade }
    return forwardedHeaders(this.#request, this.#arrival, options)
  }

  #body({ protocol }: Backend): AsyncIterable<Uint8Array> | undefined {
    const { bodyBytes } = this.#request
    if (bodyBytes === 0) return undefined
    return this.#request.bodyPieces(protocol === 'h2c' ? Infinity : this.#deps.limits.bodyBytesMax)
  }

  /** Sends copies of the request; returns its body if that is copied, too. Upgrades are not copied. */
  #mirrored(sent: SentRequest, own: Backend, all: readonly Mirror[]): CopiedBody | undefined {
    const { mirrors, random } = this.#deps
    const { method, upgrade } = this.#request
    const chosen = upgrade ? [] : all.filter(({ share }) => share >= 1 || random.fraction() < share)
    const body = chosen.length === 0 ? undefined : this.#body(own)
    const copied = body && new CopiedBody(body)
    for (const { backend } of chosen) {
      const headers = this.#headers(backend.protocol, sent, undefined)
      mirrors.send(backend, { method, target: sent.target, headers, body: copied?.copy() })
    }
    return copied
  }
}

type OnForward = (endpoint: string) => ReturnType<RequestRecorder['forward']>

/** What is sent to every endpoint that is tried, and to mirrors. */
interface SentRequest {
  readonly target: string
  readonly requestHeaders: readonly HeaderChanges[]
  /** The host of the request, if it is not the client's. */
  readonly hostname: string | undefined
}

interface Attempt extends SentRequest {
  readonly backend: Backend
  readonly endpoint: Peer
  readonly responseHeaders: readonly HeaderChanges[]
  /** The body, if mirrors get it as well. */
  readonly copied: CopiedBody | undefined
}

class ResponseTimeout extends Error {
  override name = 'ResponseTimeout'
  override message = 'the endpoint did not respond in time'
}

const preflightResponse: WireResponse = { status: 204, headers: {}, body: '' }

const badGateway: Refusal = { status: 502, message: 'no endpoint of the Service responded' }
const tooLarge: Refusal = { status: 413, message: 'the body of the request is too large' }

const refused = ({ status, message }: Refusal): WireResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: `${message}\n`,
})

function wireResponse(response: PooledResponse, changes: readonly HeaderChanges[]): WireResponse {
  const length = lengthOf(response)
  const headers = returnedHeaders(response, changes)
  const { status, body } = response
  if (body instanceof Uint8Array) return { status, headers, body, ...(body.length === 0 && length ? { length } : {}) }
  return { status, headers, body, ...(length === undefined ? {} : { length }), trailers: () => response.trailers() }
}

/** The host without the port, in lower case. */
export function hostOf(authority: string): string {
  const lower = authority.toLowerCase()
  if (lower.startsWith('[')) return lower.slice(0, lower.indexOf(']') + 1)
  const at = lower.indexOf(':')
  return at < 0 ? lower : lower.slice(0, at)
}
