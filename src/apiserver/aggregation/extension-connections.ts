// ExtensionConnections: the connections to extension servers, with the front proxy's client certificate. Calls share a pool
// for each extension; a watch or an upgrade gets its own connection, so that calls do not wait for it.
import type {
  Outbound,
  OutboundExchange,
  OutboundProvider,
  OutboundRequest,
  OutboundResponse,
} from '../../platform/http/outbound.ts'
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

/** Where an extension is called. */
export interface ExtensionEndpoint {
  /** `https://10.0.0.7:6443`, an endpoint of the Service */
  readonly origin: string
  /** Of the origin, without the default port. */
  readonly host: string
}

interface Pool {
  /** What the pool was last used for, so that the usual request compares no text. */
  readonly endpoint: ExtensionEndpoint
  readonly extension: Extension
  readonly identity: Identity | undefined
  readonly outbound: Outbound
}

/** The server has closed the connection, perhaps because it was idle. */
const lostCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** Pools; beyond this the oldest is closed. */
const poolsMax = 256

export class ExtensionConnections {
  readonly #deps: ExtensionConnectionDeps
  /** By the name of the APIService. */
  readonly #pools = new Map<string, Pool>()
  /** By Service and port, until the Service or an EndpointSlice of its namespace changes. */
  readonly #endpoints = new Map<string, ExtensionEndpoint>()

  constructor(deps: ExtensionConnectionDeps) {
    this.#deps = deps
    const observer: CacheObserver = { changed: (now, before) => this.#forget(now ?? before) }
    deps.caches.observe(service, observer)
    deps.caches.observe(endpointSlice, observer)
  }

  /** Throws where the Service has no endpoint. */
  endpointOf({ service: reference, peer }: Extension): ExtensionEndpoint {
    if (peer !== undefined) return { origin: peer, host: new URL(peer).host }
    const { namespace, name, port } = reference
    const key = `${namespace}/${name}:${port}`
    const known = this.#endpoints.get(key)
    if (known !== undefined) return known
    const origin = `https://${serviceAddress(reference, this.#deps.caches)}`
    const endpoint = { origin, host: new URL(origin).host }
    this.#endpoints.set(key, endpoint)
    return endpoint
  }

  /** As Go's client, a read that a reused connection lost before its response is sent once more. */
  async send(extension: Extension, request: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse> {
    const outbound = this.#outbound(extension, this.endpointOf(extension))
    try {
      return await outbound.send(request, signal)
    } catch (error) {
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      if (!isRead || !lostCodes.has((error as { readonly code?: string }).code ?? '') || signal.aborted) throw error
      return outbound.send(request, signal)
    }
  }

  exchange(extension: Extension, request: OutboundRequest, signal: AbortSignal): Promise<OutboundExchange> {
    const { origin } = this.endpointOf(extension)
    const tls = { ...extension.tls, ...this.#deps.proxyIdentity() }
    return this.#deps.outbound.exchange({ origin, tls }, request, signal)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map(({ outbound }) => outbound.close()))
  }

  #outbound(extension: Extension, endpoint: ExtensionEndpoint): Outbound {
    const { name } = extension
    const wanted = { extension, endpoint, identity: this.#deps.proxyIdentity() }
    const known = this.#pools.get(name)
    if (known !== undefined && isSamePool(known, wanted)) return known.outbound
    if (known !== undefined && canServe(known, wanted)) {
      this.#pools.set(name, { ...wanted, outbound: known.outbound })
      return known.outbound
    }
    const [oldest] = this.#pools.keys()
    const closed = known === undefined && this.#pools.size >= poolsMax ? oldest : name
    if (closed !== undefined) {
      void this.#pools.get(closed)?.outbound.close()
      this.#pools.delete(closed)
    }
    const tls = { ...extension.tls, ...wanted.identity }
    const outbound = this.#deps.outbound.connect({ origin: endpoint.origin, tls })
    this.#pools.set(name, { ...wanted, outbound })
    return outbound
  }

  #forget(changed: ApiObject | undefined): void {
    const prefix = `${changed?.metadata.namespace ?? ''}/`
    for (const key of this.#endpoints.keys()) if (key.startsWith(prefix)) this.#endpoints.delete(key)
  }
}

type PoolUse = Omit<Pool, 'outbound'>

const isSamePool = (known: PoolUse, { extension, endpoint, identity }: PoolUse): boolean =>
  known.extension === extension && known.endpoint === endpoint && known.identity === identity

/** An APIService also changes with its status, and an EndpointSlice with another Service's. */
const canServe = (known: PoolUse, wanted: PoolUse): boolean =>
  known.endpoint.origin === wanted.endpoint.origin &&
  known.identity?.certificate === wanted.identity?.certificate &&
  known.extension.tls.serverName === wanted.extension.tls.serverName &&
  known.extension.tls.insecureSkipVerify === wanted.extension.tls.insecureSkipVerify &&
  known.extension.tls.authority === wanted.extension.tls.authority
