// A store has the same content after it was closed and opened again.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { Compacted, LeaseNotFound, type LeaseId } from '../store.ts'
import { contentOf, eventsOf, freshPath, openAt, put, remove, signal } from './sqlite-store.harness.ts'

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
