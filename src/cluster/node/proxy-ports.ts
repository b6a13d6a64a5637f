// The ports of a service proxy, which are kube-proxy's: its health for load balancers, and its metrics.
import type { Metrics } from '../../base/observability/metrics.ts'
import type { ListenerProvider, WireResponse } from '../../platform/http/listener.ts'
import type { ServiceProxy } from '../../proxy/service-proxy.ts'

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Not served when omitted. */
export interface ProxyAddresses {
  readonly healthz?: ListenAddress
  readonly metricsAt?: ListenAddress
}

export interface ProxyPorts {
  readonly healthz?: number
  readonly metrics?: number
}

/** How long open requests may take during the stop. */
const drainMs = 1_000

export async function listenForProxy(
  { healthz, metricsAt }: ProxyAddresses,
  { health, registry }: Pick<ServiceProxy, 'health'> & { readonly registry: Metrics },
  listeners: Pick<ListenerProvider, 'listen'>,
  cleanUps: AsyncDisposableStack,
): Promise<ProxyPorts> {
  const open = async (at: ListenAddress, handle: (path: string) => WireResponse) => {
    const listener = await listeners.listen({
      ...at,
      handle: ({ target }) => handle(target.split('?', 1)[0] ?? ''),
    })
    cleanUps.defer(() => listener.close(drainMs))
    return listener.port
  }
  return {
    ...(healthz === undefined ? {} : { healthz: await open(healthz, (target) => health.handle({ target })) }),
    ...(metricsAt === undefined ? {} : { metrics: await open(metricsAt, (path) => componentResponse(path, registry)) }),
  }
}

/** As upstream, without authentication, for which reason the default address is 127.0.0.1. */
function componentResponse(path: string, registry: Metrics): WireResponse {
  if (path === '/metrics') return text(200, registry.text())
  if (path === '/healthz') return text(200, 'ok')
  if (path === '/proxyMode') return text(200, 'nftables')
  return text(404, '404 page not found\n')
}

const text = (status: number, body: string): WireResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
})
