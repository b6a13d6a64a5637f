import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { copyStore } from './copy-store.ts'
import { MemoryStore } from './memory-store.ts'
import { Compacted, type Store } from './store.ts'

const { signal } = new AbortController()
const bytes = (text: string) => new TextEncoder().encode(text)
const put = (store: Store, key: string, value: string) =>
  store.commit({ conditions: [], operations: [{ kind: 'put', key, value: bytes(value) }] }, signal)
const registry = {
  start: '/registry/',
  end: '/registry0',
  isOmitted: (key: string) => key.includes('/masterleases/'),
  isLeased: (key: string) => key.includes('/events/'),
}
const contents = async (store: Store) =>
  (await store.range({ start: '', end: '' }, signal)).items.map(({ key, value }) => [
    key,
    new TextDecoder().decode(value),
  ])

async function source(clock: VirtualClock, keys: number): Promise<MemoryStore> {
  const store = new MemoryStore(clock)
  for (let at = 0; at < keys; at++) await put(store, `/registry/pods/${String(at).padStart(5, '0')}`, `pod ${at}`)
  await put(store, '/registry/masterleases/10.0.0.1', 'address')
  await put(store, '/other', 'not of the cluster')
  return store
}

test('everything is copied; revisions are higher, and older watches start again', async () => {
  const clock = new VirtualClock()
  const from = await source(clock, 1_203)
  for (let at = 0; at < 300; at++) await put(from, '/registry/pods/00000', `change ${at}`)
  const to = new MemoryStore(clock)
  equal(await copyStore(from, to, registry, signal), 1_203)
  const expected = (await contents(from)).filter(([key]) => key?.startsWith('/registry/pods/'))
  deepEqual(await contents(to), expected)
  const { items } = await to.range({ start: '', end: '' }, signal)
  ok(items.every(({ modRevision }) => modRevision > from.revision))
  for (const old of [1, from.revision])
    await rejects(async () => {
      for await (const _ of to.watch({ prefix: '/registry/', from: old }, signal));
    }, Compacted)
})

test('values that are large together are written in several transactions', async () => {
  const clock = new VirtualClock()
  const from = new MemoryStore(clock)
  const large = 'x'.repeat(700_000)
  for (const name of ['a', 'b', 'c']) await put(from, `/registry/secrets/${name}`, large)
  const to = new MemoryStore(clock)
  equal(await copyStore(from, to, registry, signal), 3)
  deepEqual(await contents(to), await contents(from))
})

test('keys that end keep an end', async () => {
  const clock = new VirtualClock()
  const from = new MemoryStore(clock)
  await put(from, '/registry/events/a', 'event')
  const to = new MemoryStore(clock)
  await copyStore(from, to, registry, signal)
  equal((await contents(to)).length, 1)
  await clock.advance(3_700_000)
  equal((await contents(to)).length, 0)
})

test('a copy that was interrupted is repeated; a store with other objects is not changed', async () => {
  const clock = new VirtualClock()
  const from = await source(clock, 400)
  const to = new MemoryStore(clock)
  const stop = new AbortController()
  let commits = 0
  const failing = new Proxy(to, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (name === 'commit' && ++commits > 403) stop.abort(new Error('killed'))
        stop.signal.throwIfAborted()
        return Reflect.apply(value, target, args) as unknown
      }
    },
  })
  await rejects(copyStore(from, failing, registry, stop.signal), /killed/)
  ok((await contents(to)).length > 1)
  equal(await copyStore(from, to, registry, signal), 400)
  equal((await contents(to)).length, 400)
  const before = to.revision
  await rejects(copyStore(from, to, registry, signal), /the other store has objects already/)
  equal(to.revision, before)
})

test('the caller is called when everything is there, before the copy is complete', async () => {
  const clock = new VirtualClock()
  const from = await source(clock, 3)
  const to = new MemoryStore(clock)
  const onCopied = async () => {
    equal((await contents(to)).length, 4)
    throw new Error('the disk is full')
  }
  await rejects(copyStore(from, to, { ...registry, onCopied }, signal), /the disk is full/)
  equal(await copyStore(from, to, registry, signal), 3)
})
