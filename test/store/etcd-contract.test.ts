// The etcd driver passes the contract with every available etcd version.
import { after } from 'node:test'
import { realClock } from '../../src/base/time/clock.ts'
import { storeContract } from '../../src/store/contract.suite.ts'
import { EtcdCluster, etcds } from '../etcd.ts'

const { signal } = new AbortController()

for (const etcd of etcds()) {
  const starting = EtcdCluster.start(etcd, 1)
  after(async () => (await starting)[Symbol.asyncDispose]())
  let count = 0
  storeContract(`etcd ${etcd.version}`, async () => {
    const cluster = await starting
    return {
      // A new prefix gives an empty store in a used etcd.
      store: await cluster.openStore({ prefix: `/contract-${++count}` }),
      pass: (ms) => realClock.sleep(ms, signal),
      leaseMs: 5_000,
    }
  })
}
