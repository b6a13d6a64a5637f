// BackendPools: the connections to endpoints. A pool is closed, after its current requests, when its endpoint is no longer
// an endpoint of any Service.
import type { Http2Provider } from '../../platform/http/http2-client.ts'
import type { HttpPool, HttpPoolProvider } from '../../platform/http/http-pool.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'
import type { ServerIdentity } from '../../platform/http/server-identity.ts'
import type { Backend, BackendProtocol } from '../routing/route.ts'
import { H2cPool } from './h2c-pool.ts'

export interface PoolLimits {
  readonly connectionsPerEndpointMax: number
  readonly connectMsMax: number
  readonly idleMsMax: number
}

export const poolLimitsDefault: PoolLimits = {
  connectionsPerEndpointMax: 256,
  connectMsMax: 5_000,
  idleMsMax: 300_000,
}

interface OpenPool {
  readonly server: Peer
  readonly tls: ServerIdentity | undefined
  readonly pool: HttpPool
}

/** Several Services with policies of their own may have an endpoint; and a policy may have changed. */
export const identitiesPerEndpointMax = 8

export class BackendPools implements AsyncDisposable {
  readonly #http1: HttpPoolProvider
  readonly #http2: Http2Provider
  readonly #limits: PoolLimits
  readonly #pools = new Map<string, OpenPool>()

  constructor(http1: HttpPoolProvider, http2: Http2Provider, limits: PoolLimits = poolLimitsDefault) {
    this.#http1 = http1
    this.#http2 = http2
    this.#limits = limits
  }

  of(server: Peer, { protocol, tls }: Pick<Backend, 'protocol' | 'tls'>): HttpPool {
    const known = this.#pools.get(poolKey(server, protocol, tls))
    if (known !== undefined) return known.pool
    if (tls !== undefined) this.#makeRoom(server)
    const { connectionsPerEndpointMax: connectionsMax, connectMsMax, idleMsMax } = this.#limits
    const pool =
      protocol === 'h2c'
        ? new H2cPool(server, this.#http2, tls)
        : this.#http1.open({ server, connectionsMax, connectMsMax, idleMsMax, ...(tls === undefined ? {} : { tls }) })
    this.#pools.set(poolKey(server, protocol, tls), { server, tls, pool })
    return pool
  }

  /** Drains the oldest pools of a server whose identity was perhaps replaced. */
  #makeRoom({ address, port }: Peer): void {
    const own = [...this.#pools].filter(
      ([, { server, tls }]) => tls !== undefined && server.address === address && server.port === port,
    )
    for (const [key, { pool }] of own.slice(0, Math.max(0, own.length + 1 - identitiesPerEndpointMax))) {
      this.#pools.delete(key)
      pool.close().catch(() => {})
    }
  }

  /** Drains the pools of other servers. */
  retain(isKept: (server: Peer) => boolean): void {
    for (const [key, { server, pool }] of this.#pools)
      if (!isKept(server)) {
        this.#pools.delete(key)
        pool.close().catch(() => {})
      }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Array.from(this.#pools.values(), ({ pool }) => pool.destroy()))
    this.#pools.clear()
  }
}

const poolKey = ({ address, port }: Peer, protocol: BackendProtocol, tls: ServerIdentity | undefined): string =>
  `${protocol} ${address} ${port} ${tls?.id ?? ''}`
