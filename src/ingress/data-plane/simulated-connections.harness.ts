// A listener and endpoints without sockets, for tests in virtual time.
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import type { Informers } from '../../client/informer/informers.ts'
import { NotSent, type HttpPoolProvider, type PooledRequest } from '../../platform/http/http-pool.ts'
import type { Http2Provider } from '../../platform/http/http2-client.ts'
import type {
  ListenerProvider,
  ListenOptions,
  ListenTls,
  StreamedRequest,
  WireResponse,
} from '../../platform/http/listener.ts'
import type { OutboundProvider } from '../../platform/http/outbound.ts'
import { startDataPlane, type DataPlane, type DataPlaneDeps } from './data-plane.ts'
import { ingressMetrics } from './ingress-metrics.ts'

/** The response of an endpoint; undefined refuses the connection. */
export type SimulatedEndpoint = (
  request: PooledRequest,
) => { readonly status: number; readonly body: string } | undefined

export interface SentRequest {
  readonly method?: string
  readonly host: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export class SimulatedConnections {
  /** By `address:port`. */
  readonly endpoints = new Map<string, SimulatedEndpoint>()
  /** The requests that endpoints received. */
  readonly received: (PooledRequest & { readonly endpoint: string })[] = []
  /** The pools that were closed, as `address:port`. */
  readonly closed: string[] = []
  /** The options of the open listeners, by scheme. */
  readonly listening = new Map<'http' | 'https', ListenOptions>()
  readonly renewals: ListenTls[] = []
  /** Set to fail the opening of ports. */
  listenFailure: Error | undefined

  readonly listeners: Pick<ListenerProvider, 'listen'> = {
    listen: async (options) => {
      if (this.listenFailure !== undefined) throw this.listenFailure
      const scheme = options.tls === undefined ? 'http' : 'https'
      this.listening.set(scheme, options)
      return {
        host: options.host,
        port: options.port,
        renew: async (tls) => void this.renewals.push(tls),
        close: async () => void this.listening.delete(scheme),
      }
    },
  }

  readonly http1: HttpPoolProvider = {
    open: ({ server }) => {
      const endpoint = `${server.address}:${server.port}`
      return {
        pending: 0,
        send: async (request) => {
          this.received.push({ ...request, endpoint })
          const response = this.endpoints.get(endpoint)?.(request)
          if (response === undefined) throw new NotSent(`connect ECONNREFUSED ${endpoint}`)
          const { status, body } = response
          return { status, headers: {}, body: new TextEncoder().encode(body), trailers: () => undefined }
        },
        close: async () => void this.closed.push(endpoint),
        destroy: async () => {},
      }
    },
  }

  readonly http2: Http2Provider = { connect: () => Promise.reject(new Error('no endpoint of this test uses HTTP/2')) }
  readonly outbound: Pick<OutboundProvider, 'exchange'> = {
    exchange: () => Promise.reject(new Error('no request of this test is upgraded')),
  }

  readonly sockets: DataPlaneDeps['sockets'] = {
    connectStream: () => Promise.reject(new Error('no connection of this test is forwarded')),
    acceptTls: () => Promise.reject(new Error('no connection of this test is decrypted')),
    listenStreams: async ({ host, port }) => ({ host, port, close: async () => {} }),
  }

  /** A data plane on these connections. */
  startDataPlane(
    deps: Pick<DataPlaneDeps, 'clock' | 'random' | 'log' | 'flow'> & { readonly informers: Pick<Informers, 'of'> },
    tasks: TaskGroup,
  ): DataPlane {
    const { informers, ...others } = deps
    return startDataPlane(
      {
        ...others,
        metrics: ingressMetrics(new Metrics()),
        services: informers.of(service),
        endpointSlices: informers.of(endpointSlice),
        listeners: this.listeners,
        http1: this.http1,
        http2: this.http2,
        outbound: this.outbound,
        sockets: this.sockets,
      },
      { host: '127.0.0.1', fallback: { certificate: 'fallback', key: 'fallback' }, accessLog: 'off' },
      tasks,
    )
  }

  async send(scheme: 'http' | 'https', sent: SentRequest): Promise<WireResponse & { readonly text: string }> {
    const options = this.listening.get(scheme)
    if (options === undefined) throw new Error(`the ${scheme} port is closed`)
    const response = await options.handle(simulatedRequest(sent))
    return {
      ...response,
      text: response.body instanceof Uint8Array ? decoder.decode(response.body) : String(response.body),
    }
  }
}

const decoder = new TextDecoder()

export function simulatedRequest({
  method = 'GET',
  host,
  target,
  headers = {},
  body = '',
}: SentRequest): StreamedRequest {
  const all: Record<string, string> = { host, ...headers }
  const bytes = new TextEncoder().encode(body)
  const gone = new AbortController()
  return {
    method,
    target,
    headers: all,
    remoteAddress: '192.0.2.99',
    certificate: undefined,
    headerValues: (name) => [lookup(all, name) ?? []].flat(),
    signal: gone.signal,
    cancel: (reason) => gone.abort(reason),
    upgrade: false,
    body: () => bytes,
    bodyBytes: bytes.length,
    bodyPieces: async function* () {
      yield bytes
    },
  }
}
