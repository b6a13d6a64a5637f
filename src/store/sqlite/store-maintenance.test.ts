// The history has the configured window, and the file does not grow with the number of updates.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { statSync } from 'node:fs'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { Compacted } from '../store.ts'
import { contentOf, freshPath, openAt, put, signal } from './sqlite-store.harness.ts'

test('revisions of the last five minutes can be read, older ones are compacted', async () => {
  const path = freshPath()
  const clock = new VirtualClock()
  let store = await openAt(path, { clock })
  await put(store, '/a', '1')
  const early = store.revision
  await clock.advance('1m')
  await put(store, '/a', '2')
  const later = store.revision
  await clock.advance('1m')
  await put(store, '/a', '3')
  await clock.advance('2m')
  deepEqual(await contentOf(store, early), ['/a=1 2 2'])
  await store.close()
  store = await openAt(path, { clock })
  await clock.advance('2m30s')
  deepEqual(await contentOf(store, later), ['/a=2 2 3'])
  await rejects(contentOf(store, early), Compacted)
  await clock.advance('10m')
  deepEqual(await contentOf(store), ['/a=3 2 4'])
  await rejects(contentOf(store, later), Compacted)
  equal(clock.pendingTimers, 0, 'a store without a past leaves the clock alone')
  await store.close()
})

test('the file shrinks again after many updates of a few keys, and its log is emptied', async () => {
  const path = freshPath()
  const clock = new VirtualClock()
  const store = await openAt(path, { clock })
  const value = 'x'.repeat(10_000)
  const update = () => Promise.all(Array.from({ length: 20 }, (_, i) => put(store, `/k/${i}`, value)))
  for (let i = 0; i < 100; i++) await update()
  await clock.advance('1s')
  ok(statSync(`${path}-wal`).size + statSync(path).size > 20_000_000, 'all of the window is on the disk')
  await clock.advance('10m')
  equal(statSync(`${path}-wal`).size, 0)
  const bytes = statSync(path).size
  ok(bytes < 6_000_000, `${bytes} bytes are left of 20 MB`)
  equal((await contentOf(store)).length, 20)
  await store.close()
})

test('a compaction of many revisions alternates with writes', async () => {
  const path = freshPath()
  const store = await openAt(path)
  for (let i = 0; i < 50; i++)
    await Promise.all(Array.from({ length: 100 }, (_, k) => put(store, `/k/${k}`, String(i))))
  const { revision } = store
  let written = 0
  const compacted = new AbortController()
  const end = store.compact(revision, signal).finally(() => compacted.abort())
  while (!compacted.signal.aborted) {
    await put(store, '/meanwhile', String(written))
    written++
  }
  await end
  ok(written > 1, `${written} writes during the compaction`)
  await rejects(contentOf(store, revision - 1), Compacted)
  equal((await contentOf(store, revision)).length, 100)
  await store.close()
  const reopened = await openAt(path)
  equal((await contentOf(reopened)).length, 101)
  await reopened.close()
})
