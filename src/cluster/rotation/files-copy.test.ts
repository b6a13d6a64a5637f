import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Secret } from '../../api/core/v1/secret.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { findFilesCopy, keepFilesCopy } from './files-copy.ts'

const { signal } = new AbortController()
const published = (resourceVersion: string, content: string): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 'coxswain-server-files',
    namespace: 'kube-system',
    uid: '',
    creationTimestamp: '',
    resourceVersion,
  },
  type: 'coxswain.dev/server-files',
  data: { content },
})
const newStore = () => new MemoryStore(new VirtualClock())
const contentIn = async (store: Store) => (await findFilesCopy(store, signal))?.data

test('the newest files are kept, whichever server writes last', async () => {
  const store = newStore()
  equal(await contentIn(store), undefined)
  await keepFilesCopy(store, published('9', 'first'), signal)
  deepEqual(await contentIn(store), { content: 'first' })
  await keepFilesCopy(store, published('10', 'second'), signal)
  await keepFilesCopy(store, published('9', 'first'), signal)
  deepEqual(await contentIn(store), { content: 'second' })
})

test('servers that write at the same time do not replace newer files', async () => {
  const store = newStore()
  const versions = ['4', '7', '5', '6']
  await Promise.all(versions.map((version) => keepFilesCopy(store, published(version, version), signal)))
  deepEqual(await contentIn(store), { content: '7' })
})

test('what is no copy counts as none, and is replaced', async () => {
  const store = newStore()
  await keepFilesCopy(store, published('9', 'first'), signal)
  for (const text of ['', 'null', '[', '{}']) {
    const value = new TextEncoder().encode(text)
    await store.commit({ conditions: [], operations: [{ kind: 'put', key: '/coxswain/server-files', value }] }, signal)
    equal(await contentIn(store), undefined)
  }
  await keepFilesCopy(store, published('9', 'again'), signal)
  deepEqual(await contentIn(store), { content: 'again' })
})

test('a key that others change all the time is an error', async () => {
  const store = newStore()
  const racing: Store = Object.create(store, {
    commit: { value: () => Promise.resolve({ kind: 'conflict', revision: 1 }) },
    get: { value: (key: string, stop: AbortSignal) => store.get(key, stop) },
  }) as Store
  await rejects(keepFilesCopy(racing, published('1', 'a'), signal), /\/coxswain\/server-files is changed by others/)
})
