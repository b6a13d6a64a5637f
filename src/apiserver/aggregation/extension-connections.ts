// ExtensionConnections: the connections to extension servers, with the front proxy's client certificate. Calls share a pool
// for each extension; a watch or an upgrade gets its own connection, so that calls do not wait for it.
import type { Outbound, OutboundExchange, OutboundProvider, OutboundRequest } from '../../platform/http/outbound.ts'
import type { Identity } from '../../pki/authority.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { serviceAddress } from '../outbound/service-address.ts'
import type { Extension } from '../request/extension.ts'
import type { CacheObserver, ObjectCaches } from '../watch-cache/object-caches.ts'

export interface ExtensionConnectionDeps {
  readonly outbound: OutboundProvider
  /** Undefined where the server has no certificate for extensions. It is read for each connection, because it is renewed. */
  readonly proxyIdentity: () => Identity | undefined
  readonly caches: Pick<ObjectCaches, 'get' | 'list' | 'observe'>
}

interface Pool {
  readonly key: string
  readonly outbound: Outbound
}

/** Pools; beyond this the oldest is closed. */
const poolsMax = 256

export class ExtensionConnections {
  readonly #deps: ExtensionConnectionDeps
  /** By the name of the APIService. */
  readonly #pools = new Map<string, Pool>()
  /** Origins by Service, until the Service or an EndpointSlice of its namespace changes. */
  readonly #origins = new Map<string, string>()

  constructor(deps: ExtensionConnectionDeps) {
    this.#deps = deps
    const observer: CacheObserver = { changed: (now, before) => this.#forget(now ?? before) }
    deps.caches.observe(service, observer)
    deps.caches.observe(endpointSlice, observer)
  }

  /** `https://10.0.0.7:6443`, an endpoint of the Service. Throws where there is none. */
  originOf({ service: reference }: Extension): string {
    const { namespace, name, port } = reference
    const key = `${namespace}/${name}:${port}`
    const known = this.#origins.get(key)
    if (known !== undefined) return known
    const origin = `https://${serviceAddress(reference, this.#deps.caches)}`
    this.#origins.set(key, origin)
    return origin
  }

  send(extension: Extension, request: OutboundRequest, signal: AbortSignal): ReturnType<Outbound['send']> {
    return this.#pool(extension, this.originOf(extension)).send(request, signal)
  }

  exchange(extension: Extension, request: OutboundRequest, signal: AbortSignal): Promise<OutboundExchange> {
    const origin = this.originOf(extension)
    return this.#deps.outbound.exchange({ origin, tls: this.#tls(extension) }, request, signal)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map(({ outbound }) => outbound.close()))
  }

  #tls({ tls }: Extension) {
    return { ...tls, ...this.#deps.proxyIdentity() }
  }

  #pool(extension: Extension, origin: string): Outbound {
    const { name, tls } = extension
    const { certificate = '' } = this.#deps.proxyIdentity() ?? {}
    const key = `${origin} ${tls.serverName} ${tls.insecureSkipVerify} ${tls.authority} ${certificate}`
    const known = this.#pools.get(name)
    if (known?.key === key) return known.outbound
    const [oldest] = this.#pools.keys()
    const closed = known === undefined && this.#pools.size >= poolsMax ? oldest : name
    if (closed !== undefined) {
      void this.#pools.get(closed)?.outbound.close()
      this.#pools.delete(closed)
    }
    const outbound = this.#deps.outbound.connect({ origin, tls: this.#tls(extension) })
    this.#pools.set(name, { key, outbound })
    return outbound
  }

  #forget(changed: ApiObject | undefined): void {
    const prefix = `${changed?.metadata.namespace ?? ''}/`
    for (const key of this.#origins.keys()) if (key.startsWith(prefix)) this.#origins.delete(key)
  }
}
