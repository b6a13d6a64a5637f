// What is recorded about a request once its response is known: a log line with the trace, metrics, and a flow event.
import { flowTextCharsMax, type FlowId, type FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import { ownText } from '../../base/text/own-text.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { IngressMetrics } from './ingress-metrics.ts'
import { isUsualStatus } from '../../platform/http1/response-head.ts'

export const accessLogLevels = ['off', 'errors', 'all'] as const
export type AccessLogLevel = (typeof accessLogLevels)[number]

export interface ServedRequest {
  readonly method: string
  readonly host: string
  readonly path: string
  readonly status: number
  readonly durationMs: number
  readonly client: string
  /** The route, such as `ingress/default/web`; undefined if none matched. */
  readonly route: string | undefined
  /** The Service, as `namespace/name:port`. */
  readonly service: string | undefined
  /** `address:port` of the endpoint that responded. */
  readonly endpoint: string | undefined
  readonly attempts: number
  readonly traceparent: string
  /** Why there was no response of an endpoint. */
  readonly failure: string | undefined
}

/** A connection that is forwarded without being terminated. */
export interface ForwardedConnection {
  /** The server name of the client. */
  readonly host: string
  readonly client: string
  readonly route: string | undefined
  readonly endpoint: string | undefined
  /** Why it was closed. */
  readonly failure: string | undefined
}

export interface RequestRecorderDeps {
  readonly clock: Clock
  readonly log: Log
  readonly accessLog: AccessLogLevel
  readonly metrics: IngressMetrics
  readonly flow: FlowRecorder
}

/** More requests would displace the events of the control plane from the ring. */
const flowEventsPerSecondMax = 10
/** Of what a request says about itself, in a flow event and in a line of the log. */
export const recordedCharactersMax = 256

export class RequestRecorder {
  readonly #deps: RequestRecorderDeps
  #second = 0
  #eventsInSecond = 0

  constructor(deps: RequestRecorderDeps) {
    this.#deps = deps
  }

  /** The flow event of a request that begins; undefined if too many requests were recorded in this second. */
  begin(
    { method, host, path }: Pick<ServedRequest, 'method' | 'host' | 'path'>,
    route: string | undefined,
  ): FlowId | undefined {
    const second = Math.floor(this.#deps.clock.monotonicMs() / 1_000)
    if (second !== this.#second) [this.#second, this.#eventsInSecond] = [second, 0]
    if (this.#eventsInSecond++ >= flowEventsPerSecondMax) return undefined
    const what = `${shortened(method)} ${shortened(host)}${shortened(path)}`
    return this.#deps.flow.record('call', 'client', 'Ingress', ownText(what, flowTextCharsMax), flowObject(route))
  }

  forward(begun: FlowId | undefined, endpoint: string, route: string | undefined): FlowId | undefined {
    if (begun === undefined) return undefined
    const cause = { event: begun, also: [], revisions: [] }
    return this.#deps.flow.record('call', 'Ingress', `endpoint/${endpoint}`, 'forward', flowObject(route), 0, cause)
  }

  finish(event: FlowId | undefined, outcome: string): void {
    if (event !== undefined) this.#deps.flow.finish(event, shortened(outcome))
  }

  connected({ host, route = 'none', failure, ...fields }: ForwardedConnection): void {
    const { accessLog, log, metrics } = this.#deps
    metrics.connections.add({ route, result: failure === undefined ? 'connected' : 'refused' })
    if (accessLog === 'off' || (accessLog === 'errors' && failure === undefined)) return
    log.info('connection', { host: shortened(host), route, ...fields, ...(failure === undefined ? {} : { failure }) })
  }

  served(request: ServedRequest): void {
    const { route = 'none', status, durationMs, attempts, failure, method, host, path, ...fields } = request
    const { accessLog, log, metrics } = this.#deps
    metrics.requests.add({ route, code: codeLabel(status) })
    metrics.durations.observe({ route }, durationMs / 1_000)
    if (attempts > 1) metrics.retries.add({ route }, attempts - 1)
    if (accessLog === 'off' || (accessLog === 'errors' && status < 500)) return
    log.info('request', {
      method: shortened(method),
      host: shortened(host),
      path: shortened(path),
      status,
      route,
      ...fields,
      ...(attempts > 1 ? { attempts } : {}),
      ...(failure === undefined ? {} : { failure: shortened(failure) }),
      ms: Math.round(durationMs * 10) / 10,
    })
  }
}

/** Endpoints choose the status, and a metric has a bounded number of series for all tenants. */
const codeLabel = (status: number): string => (isUsualStatus(status) ? String(status) : `${Math.trunc(status / 100)}xx`)

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** A copy where it is cut: a part of a string keeps the whole, and flow events are kept for long. */
const shortened = (text: string): string =>
  text.length <= recordedCharactersMax
    ? text
    : decoder.decode(encoder.encode(`${text.slice(0, recordedCharactersMax)}…`))

const resources = {
  ingress: 'ingresses',
  httproute: 'httproutes',
  grpcroute: 'grpcroutes',
  tlsroute: 'tlsroutes',
} as const

/** `ingress/default/web` as an object. */
function flowObject(route: string | undefined) {
  const [kind = '', namespace = '', name = ''] = (route ?? '').split('/')
  const resource = Object.hasOwn(resources, kind) ? resources[kind as keyof typeof resources] : undefined
  return resource === undefined ? undefined : { resource, namespace, name }
}
