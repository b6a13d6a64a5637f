// serve: serves a cluster's API server on an HTTPS port and creates the admin kubeconfig.
import { joinHostPort } from '../../base/net/host-port.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Metrics } from '../../base/observability/metrics.ts'
import { systemRandom } from '../../base/random/random.ts'
import { isWildcard } from '../certificates/serving-hosts.ts'
import { handleHttp } from '../../apiserver/http-handler.ts'
import { offloadedYaml } from '../../apiserver/http/yaml-parser.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { kubeconfigText, type Kubeconfig } from '../../pki/kubeconfig.ts'
import type { ListenLimits } from '../../platform/limits/listen-limits.ts'
import type { Listener, ListenTls, TlsThread, WireResponse, WireRequest } from '../../platform/http/listener.ts'
import type { Platform } from '../../platform/platform.ts'
import { countHandshakeErrors } from './handshake-errors.ts'
import { shedReport } from '../../platform/limits/shed-report.ts'
import type { Cluster } from './cluster.ts'
import type { ClusterCertificates } from '../certificates/cluster-certificates.ts'
import type { AddListener } from '../node/pod-api-access.ts'

export interface ServeOptions {
  readonly host: string
  readonly port: number
  /** Relieves the event loop of TLS; without it TLS runs in the event loop. */
  readonly tlsThread?: TlsThread
  /** Limits of connections and memory. */
  readonly limits?: Partial<ListenLimits>
  /** Counts connections that the limits close. */
  readonly metrics?: Metrics
  readonly certificates: ClusterCertificates
  /** The authority of front proxies, where it is not the cluster's own. */
  readonly proxyAuthority?: string | undefined
  readonly platform: Platform
  readonly clock: Clock
  readonly log: Log
  /** Set by tests, which advance virtual time until the response begins. */
  readonly awaitResponse?: AwaitResponse
}

export type AwaitResponse = (response: Promise<WireResponse>, request: WireRequest) => Promise<WireResponse>

export interface ServedCluster {
  readonly url: string
  readonly host: string
  readonly port: number
  readonly access: Kubeconfig
  readonly kubeconfig: string
  readonly addListener: AddListener
  /** Serves the web UI, and the API for it, on a further address; returns the port. Browsers are asked for no certificate. */
  listenForUi(host: string, port: number): Promise<number>
  /** Uses the new certificates for new connections. */
  renew(certificates: ClusterCertificates): Promise<void>
  close(graceMs: number): Promise<void>
}

export async function serve(cluster: Cluster, options: ServeOptions): Promise<ServedCluster> {
  const { host, port, tlsThread, limits = {}, metrics, certificates, platform, clock, log, awaitResponse } = options
  const yaml = offloadedYaml(platform.workers, clock)
  let tls = tlsOf(certificates, options.proxyAuthority)
  const handle = (request: WireRequest, servesUiTo?: (remoteAddress: string) => boolean) => {
    const { server } = cluster
    if (server !== undefined) {
      const deps = { server, clock, random: systemRandom, log, yaml, ...(servesUiTo && { servesUiTo }) }
      const response = handleHttp(request, deps)
      return awaitResponse !== undefined && response instanceof Promise ? awaitResponse(response, request) : response
    }
    const status = new StatusError(503, 'ServiceUnavailable', 'the API server is not running').toStatus()
    return {
      status: 503,
      headers: { 'content-type': 'application/json', 'retry-after': '1' },
      body: JSON.stringify(status),
    }
  }
  const report = shedReport({ log, clock, ...(metrics && { metrics }) })
  const onShed = metrics === undefined ? report : countHandshakeErrors(metrics, report)
  const guard = { limits, onShed }
  const listener = await (tlsThread ?? platform.listeners).listen({
    host,
    port,
    tls,
    handle: (request) => handle(request),
    ...guard,
  })
  const listeners = [listener]
  const uiListeners: Listener[] = []
  // A wildcard address is reached through loopback.
  const url = `https://${joinHostPort(isWildcard(listener.host) ? '127.0.0.1' : listener.host, listener.port)}`
  const access = { server: url, authority: certificates.authority, identity: certificates.admin }
  return {
    url,
    host: listener.host,
    port: listener.port,
    access,
    kubeconfig: kubeconfigText(access),
    async addListener({ accepts, ...address }) {
      const guarded = (request: WireRequest) => (accepts(request.remoteAddress) ? handle(request) : rejected)
      listeners.push(await platform.listeners.listen({ ...address, tls, handle: guarded, ...guard }))
    },
    async listenForUi(uiHost, uiPort) {
      const toAll = (request: WireRequest) => handle(request, () => true)
      const ui = await platform.listeners.listen({
        host: uiHost,
        port: uiPort,
        tls: forUi(tls),
        handle: toAll,
        ...guard,
      })
      uiListeners.push(ui)
      return ui.port
    },
    async renew(fresh) {
      tls = tlsOf(fresh, options.proxyAuthority)
      const renewed = [...listeners.map((one) => one.renew(tls)), ...uiListeners.map((one) => one.renew(forUi(tls)))]
      await Promise.all(renewed)
    },
    async close(graceMs) {
      cluster.server?.drain()
      await Promise.all([...listeners, ...uiListeners].map((one) => one.close(graceMs)))
      await yaml.close()
    },
  }
}

const rejected: WireResponse = {
  status: 403,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: 'only pods of this machine may use this address\n',
}

/** A browser would ask its user for a client certificate. */
const forUi = (tls: ListenTls): ListenTls => ({ ...tls, clientAuthorities: {} })

const tlsOf = (
  { authority, proxyAuthority: own, serving }: ClusterCertificates,
  proxyAuthority: string = own,
): ListenTls => ({
  certificate: serving.certificate,
  key: serving.key,
  clientAuthorities: { users: authority, proxies: proxyAuthority },
})
