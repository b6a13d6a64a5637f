// An EtcdServer that listens on loopback, for tests.
import { realClock, type Clock } from '../../base/time/clock.ts'
import { systemRandom } from '../../base/random/random.ts'
import { createListeners } from '../../platform/node/http/listener.ts'
import { nodeHttp2 } from '../../platform/node/http/http2-client.ts'
import { GrpcChannel } from '../../wire/grpc/grpc-channel.ts'
import type { LocalStore } from '../local-store.ts'
import { EtcdServer, type EtcdServerOptions } from './etcd-server.ts'
import { memberIdentity } from './member-identity.ts'

export interface ServedEtcd extends AsyncDisposable {
  readonly endpoint: string
  readonly channel: GrpcChannel
}

export async function serveEtcd(
  store: LocalStore,
  { clock = realClock, ...options }: Partial<Pick<EtcdServerOptions, 'progressMs' | 'copyTo'>> & { clock?: Clock } = {},
): Promise<ServedEtcd> {
  const stop = new AbortController()
  const identity = memberIdentity(
    { name: 'default', peerUrls: ['http://localhost:2380'], clientUrls: [] },
    'etcd-cluster',
  )
  const server = new EtcdServer({
    store,
    clock,
    random: systemRandom,
    identity,
    copyTo: undefined,
    progressMs: 600_000,
    ...options,
  })
  const running = server.run(stop.signal)
  const listener = await createListeners(realClock).listen({
    host: '127.0.0.1',
    port: 0,
    acceptsH2c: true,
    handle: (request) => server.handle(request),
  })
  const endpoint = `http://127.0.0.1:${listener.port}`
  const channel = new GrpcChannel({ http2: nodeHttp2, clock: realClock, endpoint })
  return {
    endpoint,
    channel,
    async [Symbol.asyncDispose]() {
      channel.close()
      stop.abort()
      await listener.close(0)
      await running
    },
  }
}
