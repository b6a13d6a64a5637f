// The etcd driver through failures of members: kills, hangs, a lost quorum, a change of leader.
import { deepEqual, doesNotMatch, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../src/base/time/clock.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import type { EtcdStore } from '../../src/store/etcd/etcd-store.ts'
import { StoreUnavailable, type StoreBatch } from '../../src/store/store.ts'
import { EtcdCluster, etcds, newestEtcd } from '../etcd.ts'
import { until } from '../until.ts'

const { signal } = new AbortController()
const isLong = process.env['COXSWAIN_LONG'] === '1'
const kills = isLong ? 20 : 3
const writers = 8
const writesBetweenKills = 100
/** The errors after a timeout of etcd or of the driver. */
const timedOut = /request timed out|no response within/

const put = (store: EtcdStore, key: string, value: string) =>
  store.commit({ conditions: [], operations: [{ kind: 'put', key, value: new TextEncoder().encode(value) }] }, signal)

/** The write fails because the driver has detected the reason, not by a timeout. */
async function failsFast(store: EtcdStore, message: RegExp): Promise<void> {
  await rejects(put(store, '/x', 'x'), (error: Error) => {
    ok(error instanceof StoreUnavailable, String(error))
    match(error.message, message)
    doesNotMatch(error.message, timedOut)
    return true
  })
}

async function putWithRetries(store: EtcdStore, key: string): Promise<void> {
  for (;;)
    try {
      return void (await put(store, key, 'x'))
    } catch (error) {
      ok(error instanceof StoreUnavailable, String(error))
      await realClock.sleep(20, signal)
    }
}

/** Runs writers that record what was acknowledged, and a watch that must deliver all of it. */
async function underLoad(store: EtcdStore, disturb: (acknowledged: () => number) => Promise<void>): Promise<void> {
  const acknowledged = new Map<number, string>()
  const seen = new Map<number, string>()
  const stopped = new AbortController()
  const from = store.revision + 1
  const last = Promise.withResolvers<void>()
  const watching = (async () => {
    let revision = from - 1
    for await (const batch of store.watch({ prefix: '/load/', from }, signal)) {
      ok(batch.revision > revision, `revision ${batch.revision} was delivered after ${revision}`)
      revision = batch.revision
      for (const event of batch.events) {
        ok(event.kind === 'put')
        seen.set(revision, `${event.item.key}=${new TextDecoder().decode(event.item.value)}`)
        if (event.item.key === '/load/last') return last.resolve()
      }
    }
  })()
  const write = async (name: number) => {
    for (let number = 0; !stopped.signal.aborted; number++)
      try {
        const { revision } = await put(store, `/load/${name}`, String(number))
        acknowledged.set(revision, `/load/${name}=${number}`)
      } catch (error) {
        ok(error instanceof StoreUnavailable, String(error))
        await realClock.sleep(20, signal)
      }
  }
  const writing = Promise.all(Array.from({ length: writers }, (_, name) => write(name)))
  await disturb(() => acknowledged.size)
  stopped.abort()
  await writing
  await putWithRetries(store, '/load/last')
  await last.promise
  await watching
  ok(acknowledged.size > 0)
  for (const [revision, written] of acknowledged)
    equal(seen.get(revision), written, `the acknowledged write of revision ${revision}`)
  const { items } = await store.range({ start: '/load/', end: '/load0' }, signal)
  for (const { key, modRevision, value } of items)
    equal(seen.get(modRevision), `${key}=${new TextDecoder().decode(value)}`)
}

for (const etcd of etcds())
  test(`etcd ${etcd.version}: one member killed under load and started again: nothing acknowledged is lost`, async () => {
    await using cluster = await EtcdCluster.start(etcd, 1)
    const store = await cluster.openStore()
    await underLoad(store, async (acknowledged) => {
      for (let kill = 0; kill < 2; kill++) {
        const target = acknowledged() + writesBetweenKills
        await until(() => acknowledged() >= target)
        await cluster.signal(0, 'SIGKILL')
        await failsFast(store, /etcd cannot be reached.*ECONNREFUSED|etcd cannot be reached.*lost/)
        cluster.run(0)
        await cluster.ready()
      }
    })
    await store.close()
  })

test(`three members, the leader or another killed ${kills} times: watches resume, nothing acknowledged is lost`, async () => {
  await using cluster = await EtcdCluster.start(newestEtcd(), 3)
  const store = await cluster.openStore()
  const random = seededRandom(kills)
  await underLoad(store, async (acknowledged) => {
    for (let kill = 0; kill < kills; kill++) {
      const target = acknowledged() + 1 + random.below(writesBetweenKills)
      await until(() => acknowledged() >= target)
      const victim = random.below(2) === 0 ? await cluster.leader() : random.below(3)
      await cluster.signal(victim, 'SIGKILL')
      const afterKill = acknowledged() + 10
      await until(() => acknowledged() >= afterKill)
      cluster.run(victim)
      await cluster.ready()
    }
  })
  await store.close()
})

test('a lost quorum: writes and fresh reads fail fast, watches wait, and all continue when it is back', async () => {
  await using cluster = await EtcdCluster.start(newestEtcd(), 3)
  const store = await cluster.openStore()
  await put(store, '/x', 'before')
  const batches: StoreBatch[] = []
  const stopped = new AbortController()
  const watching = (async () => {
    for await (const batch of store.watch({ prefix: '/x', from: store.revision + 1 }, stopped.signal))
      batches.push(batch)
  })()
  await cluster.signal(0, 'SIGKILL')
  await cluster.signal(1, 'SIGKILL')
  // The first call may reach the third member while it still has its leader.
  for (let i = 0; i < 20; i++) await failsFast(store, i === 0 ? /etcd/ : /etcd has no leader: its quorum is lost/)
  await rejects(store.freshRevision(signal), StoreUnavailable)
  await rejects(store.get('/x', signal), StoreUnavailable)
  await rejects(store.grantLease(1_000, signal), StoreUnavailable)
  equal(batches.length, 0)
  cluster.run(0)
  await cluster.ready()
  await putWithRetries(store, '/x')
  await until(() => batches.some(({ revision, events }) => events.length > 0 && revision === store.revision))
  stopped.abort()
  await watching
  await store.close()
})

test('a member that hangs is replaced: reads continue on another, a write in flight ends as ambiguous', async () => {
  await using cluster = await EtcdCluster.start(newestEtcd(), 3)
  const endpoints = cluster.endpoints.toSorted()
  const leader = cluster.endpoints[await cluster.leader()]
  // A follower hangs: the cluster is healthy, but not the member that the store uses.
  const follower = cluster.endpoints.findIndex((endpoint) => endpoint !== leader)
  const first = cluster.endpoints[follower] ?? ''
  await using stores = new AsyncDisposableStack()
  const store = await cluster.openStore({ endpoints: [first, ...endpoints.filter((endpoint) => endpoint !== first)] })
  stores.defer(() => store.close())
  await put(store, '/x', 'before')
  await cluster.signal(follower, 'SIGSTOP')
  equal(new TextDecoder().decode((await store.get('/x', signal))?.value), 'before')
  // A write in flight to the hanging member ends as ambiguous; the next one goes to another member.
  await put(store, '/x', 'after').catch((error: unknown) => {
    if (!(error instanceof StoreUnavailable)) throw error
    return put(store, '/x', 'after')
  })
  await cluster.signal(follower, 'SIGCONT')
  await cluster.ready([first])

  const hanging = await cluster.openStore({ endpoints: [first] })
  stores.defer(() => hanging.close())
  await cluster.signal(follower, 'SIGSTOP')
  await failsFast(hanging, /etcd did not respond/)
  await cluster.signal(follower, 'SIGCONT')
})

for (const etcd of etcds())
  test(`etcd ${etcd.version}: a watch reaches the fresh revision although none of its keys change`, async () => {
    await using cluster = await EtcdCluster.start(etcd, 1)
    const store = await cluster.openStore({ prefix: '/mine' })
    const other = await cluster.openStore({ prefix: '/other' })
    await put(store, '/a', '1')
    let reached = 0
    const stopped = new AbortController()
    const delivered: string[] = []
    const watching = (async () => {
      for await (const { revision, events } of store.watch({ prefix: '/', from: store.revision + 1 }, stopped.signal)) {
        reached = revision
        for (const event of events) delivered.push(event.kind === 'put' ? event.item.key : event.key)
      }
    })()
    for (let i = 0; i < 20; i++) await put(other, '/b', String(i))
    const fresh = await store.freshRevision(signal)
    equal(fresh, other.revision)
    await until(() => reached >= fresh)
    await put(store, '/a', '2')
    await until(() => delivered.length > 0)
    deepEqual(delivered, ['/a'])
    stopped.abort()
    await watching
    await store.close()
    await other.close()
  })
