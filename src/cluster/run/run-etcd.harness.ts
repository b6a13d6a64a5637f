// `coxswain etcd` in this process, with a store that is connected to it.
import { silentLog } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { nodeHttp2 } from '../../platform/node/http/http2-client.ts'
import { EtcdStore } from '../../store/etcd/etcd-store.ts'
import { memberIdentity } from '../../store/etcd-server/member-identity.ts'
import { runEtcd } from './run-etcd.ts'

/** Without a directory, the store is in memory. */
export async function startEtcd(dataDirectory: string | undefined) {
  const stop = new AbortController()
  const ready = Promise.withResolvers<number>()
  const ended = runEtcd(
    {
      dataDirectory,
      listen: [{ host: '127.0.0.1', port: 0, tls: undefined }],
      requiresCertificate: false,
      identity: memberIdentity({ name: 'a', peerUrls: ['http://localhost:2380'], clientUrls: [] }, 'etcd-cluster'),
      history: { ms: Infinity, bounds: { versionsMax: Infinity, bytesMax: Infinity } },
      fileBytesMax: 100_000_000,
      syncs: false,
      progressMs: 600_000,
      log: silentLog,
      onReady: ([listener]) => ready.resolve(listener?.port ?? 0),
    },
    stop.signal,
  )
  ended.catch(ready.reject)
  const endpoints = [`http://127.0.0.1:${await ready.promise}`]
  const store = await EtcdStore.open(
    { http2: nodeHttp2, clock: realClock, random: systemRandom, endpoints },
    stop.signal,
  )
  return {
    endpoints,
    store,
    async stop() {
      await store.close()
      stop.abort()
      await ended
    },
  }
}
