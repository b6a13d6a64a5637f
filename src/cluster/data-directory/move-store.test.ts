// The move from SQLite to etcd, with a store in memory in place of etcd. The real one is in test/server/.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { moveToEtcd, storeBeforeEtcd } from './move-store.ts'
import { openStore, type EtcdChoice, type StoreChoice } from './open-store.ts'

const { signal } = new AbortController()
const home = await mkdtemp(join(tmpdir(), 'coxswain-move-'))
after(() => rm(home, { recursive: true, force: true }))

const etcd: EtcdChoice = { kind: 'etcd', endpoints: ['https://192.0.2.1:2379'], tlsPaths: {} }

/** Opens the given store in place of etcd. It is not closed. */
const opening = (store: Store) => async (choice: StoreChoice, directory: string) =>
  choice.kind === 'etcd'
    ? (new Proxy(store, {
        get(target, name) {
          if (name === 'close') return async () => {}
          const value: unknown = Reflect.get(target, name, target)
          return typeof value === 'function' ? (value.bind(target) as unknown) : value
        },
      }) satisfies Store)
    : openStore(choice, directory)

const put = (store: Store, key: string) =>
  store.commit({ conditions: [], operations: [{ kind: 'put', key, value: new TextEncoder().encode(key) }] }, signal)
const keysIn = async (store: Store) => (await store.range({ start: '', end: '' }, signal)).items.map(({ key }) => key)

async function directoryWith(keys: readonly string[]): Promise<string> {
  const directory = await mkdtemp(join(home, 'd-'))
  const store = await openStore({ kind: 'sqlite' }, directory)
  for (const key of keys) await put(store, key)
  await store.close()
  return directory
}

test('the objects move to etcd, and the file is kept under another name', async () => {
  const directory = await directoryWith(['/registry/pods/a', '/registry/events/b', '/registry/masterleases/c'])
  const to = new MemoryStore(new VirtualClock())
  const progress: string[] = []
  await moveToEtcd(directory, etcd, (what) => progress.push(what), signal, opening(to))
  deepEqual(await keysIn(to), ['/registry/events/b', '/registry/pods/a'])
  deepEqual(await readdir(directory), [storeBeforeEtcd])
  deepEqual(progress, ['moving the objects from SQLite to etcd', '2 objects are copied'])
  // The next start has nothing to move.
  await moveToEtcd(directory, etcd, () => {}, signal, opening(to))
})

test('an etcd with other objects is not changed, and nothing moves', async () => {
  const directory = await directoryWith(['/registry/pods/a'])
  const to = new MemoryStore(new VirtualClock())
  await put(to, '/registry/pods/other')
  await rejects(
    moveToEtcd(directory, etcd, () => {}, signal, opening(to)),
    /the other store has objects already/,
  )
  deepEqual(await keysIn(to), ['/registry/pods/other'])
  equal(existsSync(`${directory}/store.db`), true)
})
