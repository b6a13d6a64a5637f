// A cluster that version 0.1 has begun keeps its keys, and reads and writes them under those that upstream uses.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { storeContract } from '../../store/contract.suite.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import type { Operation, Store } from '../../store/store.ts'
import { EarlierKeysStore, withEarlierKeys } from './earlier-keys-store.ts'

const { signal } = new AbortController()

storeContract('earlier keys', () => {
  const clock = new VirtualClock()
  const store = new EarlierKeysStore(new MemoryStore(clock))
  return Promise.resolve({ store, pass: (ms) => clock.advance(ms), leaseMs: 1_000 })
})

const earlier = '/registry/customresourcedefinitions/widgets.example.com'
const now = '/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com'
const other = '/registry/configmaps/default/a'
const put = (key: string): Operation => ({ kind: 'put', key, value: new TextEncoder().encode(key) })
const write = (store: Store, ...operations: Operation[]) => store.commit({ conditions: [], operations }, signal)
const keysOf = async (store: Store, start: string, end: string) =>
  (await store.range({ start, end }, signal)).items.map(({ key }) => key)

test('only a store with earlier keys is translated', async () => {
  const inner = new MemoryStore(new VirtualClock())
  equal(await withEarlierKeys(inner, signal), inner)
  await write(inner, put(now), put(other))
  equal(await withEarlierKeys(inner, signal), inner)
  await write(inner, put(earlier))
  equal((await withEarlierKeys(inner, signal)) instanceof EarlierKeysStore, true)
})

test('definitions are read, written and watched under upstream’s keys', async () => {
  const inner = new MemoryStore(new VirtualClock())
  await write(inner, put(earlier))
  const store = await withEarlierKeys(inner, signal)
  const watch = store.watch({ prefix: '/', from: inner.revision + 1 }, signal)[Symbol.asyncIterator]()
  const item = await store.get(now, signal)
  equal(item?.key, now)
  deepEqual(await keysOf(store, `${now.slice(0, now.lastIndexOf('/'))}/`, `${now.slice(0, now.lastIndexOf('/'))}0`), [
    now,
  ])
  deepEqual(await keysOf(store, now, `${now}\0`), [now])
  deepEqual(await keysOf(store, '/', '0'), [now])
  const key = '/registry/apiregistration.k8s.io/apiservices/v1.example.com'
  const change = {
    conditions: [{ key: now, modRevision: item?.modRevision ?? 0 }],
    operations: [put(now), put(key), put(other)],
  }
  equal((await store.commit(change, signal)).kind, 'committed')
  deepEqual(await keysOf(inner, '/', '0'), ['/registry/apiservices/v1.example.com', other, earlier])
  await write(store, { kind: 'delete', key: now })
  equal(await inner.get(earlier, signal), undefined)
  const seen: string[] = []
  for (let batches = 0; batches < 2; batches++) {
    const { value } = await watch.next()
    for (const event of value?.events ?? [])
      seen.push(`${event.kind} ${event.kind === 'put' ? event.item.key : event.key}`)
  }
  deepEqual(seen.toSorted(), [`delete ${now}`, `put ${key}`, `put ${now}`, `put ${other}`].toSorted())
  equal(store.isStale?.(now, new Uint8Array()), false)
})
