// A store has the same content after it was closed and opened again.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { Compacted, LeaseNotFound, type LeaseId } from '../store.ts'
import { contentOf, eventsOf, freshPath, openAt, put, remove, signal, text } from './sqlite-store.harness.ts'

test('state, revisions, old revisions and watches survive a restart', async () => {
  const path = freshPath()
  const first = await openAt(path)
  const from = first.revision + 1
  await put(first, '/a', '1')
  await put(first, '/a', '2')
  const middle = first.revision
  await put(first, '/b', '')
  await remove(first, '/a')
  await first.commit(
    {
      conditions: [],
      operations: [
        { kind: 'put', key: '/c', value: new Uint8Array([0, 255]) },
        { kind: 'delete', key: '/b' },
      ],
    },
    signal,
  )
  const before = {
    revision: first.revision,
    now: await contentOf(first),
    earlier: await contentOf(first, middle),
    events: await eventsOf(first, from, 6),
  }
  await first.close()
  const second = await openAt(path)
  deepEqual(
    {
      revision: second.revision,
      now: await contentOf(second),
      earlier: await contentOf(second, middle),
      events: await eventsOf(second, from, 6),
    },
    before,
  )
  deepEqual(await put(second, '/d', 'x'), { kind: 'committed', revision: before.revision + 1 })
  await second.close()
})

test('a compaction survives a restart, and everything deleted stays deleted', async () => {
  const path = freshPath()
  const first = await openAt(path)
  for (let i = 0; i < 10; i++) await put(first, `/k${i % 3}`, String(i))
  for (let i = 0; i < 3; i++) await remove(first, `/k${i}`)
  const { revision } = first
  await first.compact(revision, signal)
  await first.close()
  const second = await openAt(path)
  equal(second.revision, revision)
  deepEqual(await contentOf(second), [])
  await rejects(contentOf(second, revision - 1), Compacted)
  await rejects(eventsOf(second, revision - 1, 1), Compacted)
  await second.close()
})

test('random histories, restarted and compacted, read the same at every revision', async () => {
  const path = freshPath()
  const contents = new Map<number, string[]>()
  let store = await openAt(path)
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 40; i++) {
      const key = `/k${(i * 7 + round) % 11}`
      await (i % 5 === 4 ? remove(store, key) : put(store, key, `${round}.${i}`))
      contents.set(store.revision, await contentOf(store))
    }
    const compacted = store.revision - 25
    await store.compact(compacted, signal)
    await store.close()
    store = await openAt(path)
    for (const [revision, content] of contents)
      if (revision >= compacted) deepEqual(await contentOf(store, revision), content, `at revision ${revision}`)
  }
  await store.close()
})

test('leases survive a restart and expire on time', async () => {
  const path = freshPath()
  const clock = new VirtualClock()
  const first = await openAt(path, { clock })
  const short = await first.grantLease(60_000, signal)
  const long = await first.grantLease(600_000, signal)
  await put(first, '/short', 'x', short)
  await put(first, '/long', 'x', long)
  await first.close()
  await clock.advance(30_000)
  const second = await openAt(path, { clock })
  await clock.advance(20_000)
  equal((await contentOf(second)).length, 2)
  await clock.advance(20_000)
  deepEqual(await contentOf(second), ['/long=x 3 3'])
  await rejects(put(second, '/late', 'x', short), LeaseNotFound)
  const next = await second.grantLease(1_000, signal)
  equal(next, (long + 1) as LeaseId, 'no lease is given twice')
  await second.close()
})

test('a lease that expired while the store was closed ends when it is opened', async () => {
  const path = freshPath()
  const clock = new VirtualClock()
  const first = await openAt(path, { clock })
  await put(first, '/short', 'x', await first.grantLease(1_000, signal))
  await first.close()
  await clock.advance(5_000)
  const second = await openAt(path, { clock })
  await clock.advance(1)
  deepEqual(await contentOf(second), [])
  await second.close()
})

test('versions of keys and the time to live of leases survive a restart and a compaction', async () => {
  const path = freshPath()
  const clock = new VirtualClock()
  const first = await openAt(path, { clock })
  const lease = await first.grantLease(20_000, signal, 9_000)
  for (const value of ['1', '2', '3']) await put(first, '/a', value)
  await put(first, '/leased', 'x', lease)
  await first.compact(first.revision - 1, signal)
  await put(first, '/a', '4')
  await clock.advance(15_000)
  await first.renewLease(lease, signal)
  await first.close()
  const second = await openAt(path, { clock })
  equal((await second.get('/a', signal))?.version, 4)
  equal(second.stateAt(second.compacted).state.get('/a')?.version, 3)
  equal(second.leases.get(lease)?.ttlMs, 20_000)
  await clock.advance(15_000)
  equal(text((await second.get('/leased', signal))?.value), 'x')
  await clock.advance(10_000)
  equal(await second.get('/leased', signal), undefined)
  await second.close()
})

test('a file of format 1 is upgraded when it is opened', async () => {
  const path = freshPath()
  const clock = new VirtualClock()
  const first = await openAt(path, { clock })
  await put(first, '/a', '1')
  await put(first, '/leased', 'x', await first.grantLease(60_000, signal))
  const content = await contentOf(first)
  await first.close()
  const file = new DatabaseSync(path)
  file.exec(`
    ALTER TABLE changes DROP COLUMN version;
    ALTER TABLE leases DROP COLUMN ttl_ms;
    PRAGMA user_version = 1;
  `)
  file.close()
  const second = await openAt(path, { clock })
  deepEqual(await contentOf(second), content)
  await put(second, '/a', '2')
  equal((await second.get('/a', signal))?.version, 2)
  await second.close()
  const third = await openAt(path, { clock })
  equal((await third.get('/a', signal))?.version, 2)
  await clock.advance(60_000)
  deepEqual(await contentOf(third), ['/a=2 2 4'])
  await third.close()
})

test('a store that keeps its history compacts only on request', async () => {
  const path = freshPath()
  const clock = new VirtualClock()
  const unbounded = { versionsMax: Infinity, bytesMax: Infinity }
  const store = await openAt(path, { clock, historyMs: Infinity, historyBounds: unbounded })
  await put(store, '/a', '1')
  await put(store, '/a', '2')
  await clock.advance(24 * 3_600_000)
  deepEqual(await contentOf(store, 2), ['/a=1 2 2'])
  equal(store.compacted, 1)
  await store.compact(3, signal)
  equal(store.compacted, 3)
  await store.close()
})
