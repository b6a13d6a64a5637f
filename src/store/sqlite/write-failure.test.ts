// A batch that the disk rejects: its writers and the dependent ones get the error, and nothing of it becomes visible.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { nodeWorkers } from '../../platform/node/process/workers.ts'
import type { Workers } from '../../platform/process/workers.ts'
import { StoreUnavailable } from '../store.ts'
import { StoreBroken, StoreClosed, StoreFull } from './store-errors.ts'
import { contentOf, freshPath, openAt, put, remove, signal } from './sqlite-store.harness.ts'

const big = 'x'.repeat(200_000)
const small = { fileBytesMax: 1_000_000 }

test('a full disk fails the batch and the dependent writes, and none becomes visible', async () => {
  const path = freshPath()
  const store = await openAt(path, small)
  await put(store, '/a', '1')
  const { revision } = store
  const watched: string[] = []
  const watching = (async () => {
    for await (const { events } of store.watch({ prefix: '', from: revision + 1 }, signal))
      for (const event of events) watched.push(event.kind === 'put' ? event.item.key : event.key)
  })()
  const tooMuch = Array.from({ length: 10 }, (_, i) => put(store, `/big/${i}`, big))
  const behind = put(store, '/behind', 'x')
  const conflicting = store.commit({ conditions: [{ key: '/behind', modRevision: 0 }], operations: [] }, signal)
  for (const promise of [...tooMuch, behind, conflicting]) await rejects(promise, StoreFull)
  equal(store.revision, revision)
  deepEqual(await contentOf(store), ['/a=1 2 2'])
  deepEqual(await put(store, '/b', '2'), { kind: 'committed', revision: revision + 1 })
  await store.close()
  await watching
  deepEqual(watched, ['/b'])
  const reopened = await openAt(path, small)
  deepEqual(await contentOf(reopened), ['/a=1 2 2', '/b=2 3 3'])
  await reopened.close()
})

test('writes succeed again after a compaction freed space', async () => {
  const store = await openAt(freshPath(), small)
  const fill = async () => {
    for (let i = 0; i < 10; i++) await put(store, '/big', `${i}${big}`)
  }
  await rejects(fill(), StoreFull)
  await store.compact(store.revision, signal)
  await put(store, '/big', big)
  await store.close()
})

test('a lease whose end cannot be written is retried', async () => {
  const clock = new VirtualClock()
  const store = await openAt(freshPath(), { clock, ...small })
  const lease = await store.grantLease(1_000, signal)
  await put(store, '/leased', 'x', lease)
  const tooMuch = Array.from({ length: 10 }, (_, i) => put(store, `/big/${i}`, big))
  const revoked = store.revokeLease(lease, signal)
  for (const promise of [...tooMuch, revoked]) await rejects(promise, StoreFull)
  deepEqual(await contentOf(store), ['/leased=x 2 2'])
  await clock.advance(2_000)
  deepEqual(await contentOf(store), [])
  await store.close()
})

test('a key whose change of lease was discarded expires with its previous lease', async () => {
  const clock = new VirtualClock()
  const store = await openAt(freshPath(), { clock, ...small })
  const first = await store.grantLease(1_000, signal)
  const second = await store.grantLease(60_000, signal)
  await put(store, '/leased', 'x', first)
  const tooMuch = Array.from({ length: 10 }, (_, i) => put(store, `/big/${i}`, big))
  const moved = put(store, '/leased', 'y', second)
  for (const promise of [...tooMuch, moved]) await rejects(promise, StoreFull)
  await clock.advance(2_000)
  deepEqual(await contentOf(store), [])
  await store.close()
})

test('an aborted writer is rejected; its write continues', async () => {
  const store = await openAt(freshPath())
  const controller = new AbortController()
  const operations = [{ kind: 'put', key: '/a', value: new Uint8Array() } as const]
  const aborted = store.commit({ conditions: [], operations }, controller.signal)
  controller.abort(new Error('the client left'))
  await rejects(aborted, /the client left/)
  await rejects(store.commit({ conditions: [], operations }, controller.signal), /the client left/)
  await put(store, '/b', 'x')
  deepEqual(await contentOf(store), ['/a= 2 2', '/b=x 3 3'])
  await store.close()
})

test('an aborted writer is rejected even while the disk does not respond', async () => {
  let stop = () => Promise.resolve()
  let isHeld = false
  const workers: Workers = {
    ...nodeWorkers,
    start<In, Out>(module: URL, data: unknown) {
      const handle = nodeWorkers.start<In, Out>(module, data)
      stop = () => handle.stop()
      return { ...handle, post: (message: In) => void (isHeld || handle.post(message)) }
    },
  }
  const store = await openAt(freshPath(), { workers })
  isHeld = true
  const first = new AbortController()
  const second = new AbortController()
  const operations = [{ kind: 'put', key: '/a', value: new Uint8Array() } as const]
  const written = store.commit({ conditions: [], operations }, first.signal)
  await eventLoopTurn()
  const waiting = store.commit({ conditions: [], operations }, second.signal)
  second.abort(new Error('the second left'))
  await rejects(waiting, /the second left/)
  first.abort(new Error('the first left'))
  await rejects(written, /the first left/)
  await stop()
})

test('when the disk thread ends every writer gets an error, and reads still work', async () => {
  const stops: (() => Promise<void>)[] = []
  const workers: Workers = {
    ...nodeWorkers,
    start<In, Out>(module: URL, data: unknown) {
      const handle = nodeWorkers.start<In, Out>(module, data)
      stops.push(() => handle.stop())
      return handle
    },
  }
  const store = await openAt(freshPath(), { workers })
  await put(store, '/a', '1')
  const writes = Array.from({ length: 20 }, (_, i) => put(store, `/k/${i}`, 'x'))
  const outcomes = Promise.allSettled(writes)
  await Promise.all(stops.map((stop) => stop()))
  await outcomes
  await rejects(put(store, '/b', 'x'), StoreBroken)
  equal((await contentOf(store))[0], '/a=1 2 2')
  await store.close()
})

test('a closed store rejects writes; those in flight when it closed are completed', async () => {
  const path = freshPath()
  const store = await openAt(path)
  const writes = Array.from({ length: 20 }, (_, i) => put(store, `/k/${i}`, 'x'))
  await Promise.all([...writes, store.close(), store.close()])
  await rejects(put(store, '/late', 'x'), StoreClosed)
  await rejects(remove(store, '/late'), StoreUnavailable)
  await rejects(store.grantLease(1_000, signal), StoreClosed)
  const reopened = await openAt(path)
  equal((await contentOf(reopened)).length, 20)
  await reopened.close()
})
