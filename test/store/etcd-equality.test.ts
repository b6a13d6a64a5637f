// The API of `coxswain etcd` answers as etcd does: the same requests to both, in every available version of etcd.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../src/base/time/clock.ts'
import { nodeHttp2 } from '../../src/platform/node/http/http2-client.ts'
import { apiSteps } from '../../src/store/etcd-server/api-steps.harness.ts'
import { serveEtcd } from '../../src/store/etcd-server/etcd-server.harness.ts'
import { MemoryStore } from '../../src/store/memory-store.ts'
import { GrpcChannel } from '../../src/wire/grpc/grpc-channel.ts'
import { EtcdCluster, etcds } from '../etcd.ts'

for (const etcd of etcds())
  test(`the answers are those of etcd ${etcd.version}`, async () => {
    await using cluster = await EtcdCluster.start(etcd, 1)
    const [endpoint = ''] = cluster.endpoints
    const theirs = new GrpcChannel({ http2: nodeHttp2, clock: realClock, endpoint, tls: cluster.tls })
    const store = new MemoryStore(realClock)
    await using ours = await serveEtcd(store)
    try {
      for (const [name, call] of apiSteps) deepEqual(await call(ours.channel), await call(theirs), name)
    } finally {
      theirs.close()
      await store.close()
    }
  })
