import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { realClock } from '../../base/time/clock.ts'
import { nodeWorkers } from '../../platform/node/process/workers.ts'
import { MemoryStore } from '../memory-store.ts'
import { Compacted, operationsMax, type KeyValue, type Operation, type RangeOptions, type Store } from '../store.ts'
import { bytes, freshPath, openAt, put, signal } from './sqlite-store.harness.ts'
import { writeStoreFile } from './write-store-file.ts'

const registry = {
  start: '/registry/',
  end: '/registry0',
  isOmitted: (key: string) => key.includes('/masterleases/'),
  isLeased: (key: string) => key.includes('/events/'),
}
const deps = { workers: nodeWorkers, clock: realClock }
const contents = async (store: Store) => {
  const { items } = await store.range({ start: '', end: '' }, signal)
  return items.map(({ key, value, createRevision, modRevision, version }: KeyValue) =>
    [key, value.toHex(), createRevision, modRevision, version].join(' '),
  )
}
const operation = (key: string): Operation => ({ kind: 'put', key, value: bytes(key) })
const names = (kind: string, count: number) => Array.from({ length: count }, (_, at) => `/registry/${kind}/${at}`)

test('the file has the keys with their revisions and no history; its revision is above that of the other store', async () => {
  const from = new MemoryStore(new VirtualClock())
  for (const key of names('pods', 40)) await put(from, key, key)
  await put(from, '/registry/pods/7', 'a later value')
  // Of one revision, and apart in the order of keys.
  await from.commit({ conditions: [], operations: names('pods', operationsMax).map(operation) }, signal)
  await put(from, '/registry/events/a', 'an event')
  const expected = await contents(from)
  await put(from, '/registry/masterleases/10.0.0.1', 'address')
  await put(from, '/other', 'not of the cluster')
  const path = freshPath()
  equal(await writeStoreFile(from, path, registry, deps, signal), from.revision)
  equal(existsSync(`${path}-wal`), false)
  equal(statSync(path).mode & 0o777, 0o600)
  const store = await openAt(path)
  deepEqual(await contents(store), expected)
  equal(store.revision, from.revision + 1)
  deepEqual(store.keysOf(1), ['/registry/events/a'])
  for (const old of [1, from.revision + 1])
    await rejects(async () => {
      for await (const _ of store.watch({ prefix: '/registry/', from: old }, signal));
    }, Compacted)
  const { revision } = (await put(store, '/registry/pods/new', 'x')) as { revision: number }
  equal(revision, from.revision + 2)
})

test('the state is that of one revision, and large values are read in small pages', async () => {
  const from = new MemoryStore(new VirtualClock())
  for (const key of names('secrets', 60)) await put(from, key, 'x'.repeat(1 << 20))
  const before = from.revision
  const pages: number[] = []
  const changing: Store = Object.create(from, {
    range: {
      value: async (options: RangeOptions) => {
        const result = await from.range(options, signal)
        pages.push(result.items.length)
        // Others write meanwhile.
        await put(from, '/registry/secrets/9', `change ${pages.length}`)
        await put(from, `/registry/secrets/z${pages.length}`, 'new')
        return result
      },
    },
    freshRevision: { value: () => from.revision },
  }) as Store
  const path = freshPath()
  equal(await writeStoreFile(changing, path, registry, deps, signal), before)
  ok(pages.length > 10 && Math.max(...pages.slice(1)) <= 4, `pages of ${pages.join(', ')} keys`)
  const { items } = await (await openAt(path)).range({ start: '', end: '' }, signal)
  equal(items.length, 60)
  ok(items.every(({ modRevision, value }) => modRevision <= before && value.length === 1 << 20))
})
