// Mirrors: sends copies of requests to other Services. Their responses are discarded, and requests do not wait for them.
import type { Clock } from '../../base/time/clock.ts'
import type { PooledRequest, PooledResponse } from '../../platform/http/http-pool.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'
import { nextEndpoint } from '../backends/next-endpoint.ts'
import type { ServiceEndpoints } from '../backends/service-endpoints.ts'
import type { Backend } from '../routing/route.ts'
import type { BackendPools } from './backend-pools.ts'

export interface MirrorsDeps {
  readonly clock: Pick<Clock, 'after'>
  readonly endpoints: Pick<ServiceEndpoints, 'of'>
  readonly pools: Pick<BackendPools, 'of'>
}

/** Copies in progress; further ones are not sent, so that a slow Service does not hold requests without bound. */
export const mirroredMax = 1_000
/** Until the response has ended. */
export const mirroredMsMax = 60_000

export class Mirrors {
  readonly #deps: MirrorsDeps
  #open = 0

  constructor(deps: MirrorsDeps) {
    this.#deps = deps
  }

  /** Without a ready endpoint, nothing is sent. */
  send(backend: Backend, request: PooledRequest): void {
    const endpoint = nextEndpoint(this.#deps.endpoints.of(backend))
    if (endpoint === undefined || this.#open >= mirroredMax) return
    void this.#exchange(endpoint, backend, request)
  }

  async #exchange(endpoint: Peer, backend: Backend, request: PooledRequest): Promise<void> {
    const { clock, pools } = this.#deps
    this.#open++
    const stop = new AbortController()
    const timer = clock.after(mirroredMsMax, () => stop.abort(new Error('the mirrored request took too long')))
    try {
      await discard(await pools.of(endpoint, backend).send(request, stop.signal))
    } catch {
      // The client's own request does not depend on its copies.
    } finally {
      timer.cancel()
      this.#open--
    }
  }
}

async function discard({ body }: PooledResponse): Promise<void> {
  if (body instanceof Uint8Array) return
  for await (const _ of body) continue
}
