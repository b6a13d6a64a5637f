// EtcdServer: etcd's v3 API over gRPC, and its HTTP endpoints, on a local store.
import type { Clock } from '../../base/time/clock.ts'
import type { Random } from '../../base/random/random.ts'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { StreamedRequest, WireResponse } from '../../platform/http/listener.ts'
import { grpcHandler, isGrpc, streamRoute } from '../../wire/grpc/grpc-server.ts'
import type { LocalStore } from '../local-store.ts'
import { transactionBytesMax } from '../store.ts'
import { watchMethod } from './etcd-api.ts'
import { kvRoutes, type HeaderAt } from './kv-service.ts'
import { leaseRoutes } from './lease-service.ts'
import { etcdVersion, maintenanceRoutes, raftTerm, type MaintenanceDeps } from './maintenance-service.ts'
import type { MemberIdentity } from './member-identity.ts'
import { WatchHub } from './watch-hub.ts'
import { WatchSession } from './watch-session.ts'

export interface EtcdServerOptions {
  readonly store: LocalStore
  readonly clock: Clock
  readonly random: Random
  readonly identity: MemberIdentity
  readonly copyTo: MaintenanceDeps['copyTo']
  /** How often watches that have asked for it are notified of their progress. */
  readonly progressMs: number
}

/** etcd's: the largest request and the room for its encoding. */
const messageBytesMax = transactionBytesMax + 512 * 1024

export class EtcdServer {
  readonly #hub: WatchHub
  readonly #grpc: (request: StreamedRequest) => MaybePromise<WireResponse>

  constructor({ store, clock, random, identity, copyTo, progressMs }: EtcdServerOptions) {
    const { clusterId, memberId } = identity
    const headerAt: HeaderAt = (revision) => ({ clusterId, memberId, revision, raftTerm })
    const hub = new WatchHub({ store, clock, progressMs })
    this.#hub = hub
    this.#grpc = grpcHandler(
      [
        ...kvRoutes(store, headerAt),
        ...leaseRoutes({ store, clock, random, headerAt }),
        ...maintenanceRoutes({ store, identity, headerAt, copyTo }),
        streamRoute(watchMethod, (stream) => new WatchSession(hub, stream, headerAt).serve()),
      ],
      messageBytesMax,
    )
  }

  /** Delivers changes to watchers until the signal is aborted. */
  run(signal: AbortSignal): Promise<void> {
    return this.#hub.run(signal)
  }

  handle(request: StreamedRequest): MaybePromise<WireResponse> {
    if (isGrpc(request)) return this.#grpc(request)
    const { method, target } = request
    const [path = ''] = target.split('?')
    if (method !== 'GET' && method !== 'HEAD') return text(405, 'Method Not Allowed\n')
    switch (path) {
      case '/health':
        return json({ health: 'true', reason: '' })
      case '/livez':
      case '/readyz':
        return text(200, 'ok\n')
      case '/version':
        return json({ etcdserver: etcdVersion, etcdcluster: '3.6.0', storage: '3.6.0' })
      default:
        return text(404, '404 page not found\n')
    }
  }
}

const json = (value: object): WireResponse => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})

const text = (status: number, body: string): WireResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
})
