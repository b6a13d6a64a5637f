// BackendPools: the connections to endpoints. A pool is closed, after its current requests, when its endpoint is no longer
// an endpoint of any Service.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Http2Provider } from '../../platform/http/http2-client.ts'
import type { HttpPool, HttpPoolProvider } from '../../platform/http/http-pool.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'
import type { BackendProtocol } from '../routing/route.ts'
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

export class BackendPools implements AsyncDisposable {
  readonly #http1: HttpPoolProvider
  readonly #http2: Http2Provider
  readonly #limits: PoolLimits
  readonly #pools = new Map<string, { readonly server: Peer; readonly pool: HttpPool }>()

  constructor(http1: HttpPoolProvider, http2: Http2Provider, limits: PoolLimits = poolLimitsDefault) {
    this.#http1 = http1
    this.#http2 = http2
    this.#limits = limits
  }

  of(server: Peer, protocol: BackendProtocol): HttpPool {
    return getOrInsert(this.#pools, poolKey(server, protocol), () => {
      const { connectionsPerEndpointMax: connectionsMax, connectMsMax, idleMsMax } = this.#limits
      if (protocol === 'h2c') return { server, pool: new H2cPool(server, this.#http2) }
      return { server, pool: this.#http1.open({ server, connectionsMax, connectMsMax, idleMsMax }) }
    }).pool
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

const poolKey = ({ address, port }: Peer, protocol: BackendProtocol): string => `${protocol} ${address} ${port}`
