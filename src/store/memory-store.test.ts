import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { storeContract } from './contract.suite.ts'
import { localStoreContract } from './local-store.suite.ts'
import { MemoryStore } from './memory-store.ts'
import { Compacted } from './store.ts'

storeContract('memory', () => {
  const clock = new VirtualClock()
  return Promise.resolve({ store: new MemoryStore(clock), pass: (ms) => clock.advance(ms), leaseMs: 1_000 })
})

localStoreContract('memory', () => {
  const clock = new VirtualClock()
  return Promise.resolve({ store: new MemoryStore(clock), pass: (ms) => clock.advance(ms) })
})

test('a store created from a snapshot continues its revisions', async () => {
  const { signal } = new AbortController()
  const store = new MemoryStore(new VirtualClock())
  await store.commit({ conditions: [], operations: [{ kind: 'put', key: '/a', value: new Uint8Array() }] }, signal)
  const copy = new MemoryStore(new VirtualClock(), { initial: store.snapshot() })
  equal(copy.revision, store.revision)
  deepEqual(await copy.get('/a', signal), await store.get('/a', signal))
})

test('a store restores a snapshot at a new revision', async () => {
  const { signal } = new AbortController()
  const store = new MemoryStore(new VirtualClock())
  const put = (key: string) =>
    store.commit({ conditions: [], operations: [{ kind: 'put', key, value: new Uint8Array() }] }, signal)
  await put('/a')
  const snapshot = store.snapshot()
  await put('/b')
  const seen = store.revision
  const watch = store.watch({ prefix: '/', from: seen + 1 }, signal)[Symbol.asyncIterator]()
  const ended = watch.next()
  store.restore(snapshot)
  equal((await ended).done, true)
  equal(store.revision, seen + 1)
  deepEqual(
    (await store.range({ start: '/', end: '0' }, signal)).items.map(({ key }) => key),
    ['/a'],
  )
  await rejects(async () => {
    for await (const _ of store.watch({ prefix: '/', from: seen }, signal)) return
  }, Compacted)
  equal((await put('/c')).revision, seen + 2)
})
