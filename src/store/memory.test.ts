import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../base/virtual-clock.ts'
import { storeContract } from './contract.suite.ts'
import { MemoryStore } from './memory.ts'

storeContract('memory', () => {
  const clock = new VirtualClock()
  return Promise.resolve({ store: new MemoryStore(clock), pass: (ms) => clock.advance(ms) })
})

test('a snapshot begins a store that goes on counting', async () => {
  const { signal } = new AbortController()
  const store = new MemoryStore(new VirtualClock())
  await store.commit({ conditions: [], operations: [{ kind: 'put', key: '/a', value: new Uint8Array() }] }, signal)
  const copy = new MemoryStore(new VirtualClock(), { initial: store.snapshot() })
  equal(copy.revision, store.revision)
  deepEqual(await copy.get('/a', signal), await store.get('/a', signal))
})
