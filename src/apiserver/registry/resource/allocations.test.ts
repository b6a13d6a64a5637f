// Allocations that do not fit into one transaction, and what is left of them when one fails.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../../base/time/clock.ts'
import { MemoryStore } from '../../../store/memory-store.ts'
import { operationsMax, type Operation } from '../../../store/store.ts'
import { AllocationConflict, commitAllocating, retryAllocationConflicts } from './allocations.ts'

const { signal } = new AbortController()
const value = new TextEncoder().encode('owner')

const allocated = (key: string) => ({
  condition: { key, modRevision: 0 },
  operation: { kind: 'put', key, value } satisfies Operation,
})
const released = (key: string, modRevision: number) => ({
  condition: { key, modRevision },
  operation: { kind: 'delete', key } satisfies Operation,
})
const many = Array.from({ length: operationsMax + 20 }, (_, at) => allocated(`/ports/${at}`))
const own = (modRevision = 0) => ({
  conditions: [{ key: '/services/web', modRevision }],
  operations: [{ kind: 'put', key: '/services/web', value } satisfies Operation],
})

const newStore = () => new MemoryStore(realClock)
const keysOf = async (store: MemoryStore) =>
  (await store.range({ start: '/', end: '0' }, signal)).items.map(({ key }) => key)

test('more allocations than a transaction has operations are made before the object is written', async () => {
  const store = newStore()
  equal((await commitAllocating(store, own(), many, signal)).kind, 'committed')
  equal((await keysOf(store)).length, many.length + 1)
})

test('allocations are released after the object is written', async () => {
  const store = newStore()
  await commitAllocating(store, own(), many, signal)
  const { items } = await store.range({ start: '/ports/', end: '/ports0' }, signal)
  const written = await store.get('/services/web', signal)
  const releases = items.map(({ key, modRevision }) => released(key, modRevision))
  equal((await commitAllocating(store, own(written?.modRevision), releases, signal)).kind, 'committed')
  deepEqual(await keysOf(store), ['/services/web'])
})

test('nothing is left if another object has one of the allocations, or the object has changed', async () => {
  const store = newStore()
  const last = many.at(-1)?.operation as Operation
  await store.commit({ conditions: [], operations: [last] }, signal)
  await rejects(commitAllocating(store, own(), many, signal), AllocationConflict)
  deepEqual(await keysOf(store), [last.key])
  const others = many.slice(0, -1)
  equal((await commitAllocating(store, own(7), others, signal)).kind, 'conflict')
  deepEqual(await keysOf(store), [last.key])
})

test('a write is tried again after a conflict, once the cache has its revision; other errors are returned', async () => {
  const awaited: number[] = []
  const cache = { waitForRevision: async (revision: number) => void awaited.push(revision) }
  const deps = { cache } as unknown as Parameters<typeof retryAllocationConflicts>[0]
  let tries = 0
  const result = await retryAllocationConflicts(deps, signal, async () => {
    if (++tries < 3) throw new AllocationConflict(tries)
    return 'written'
  })
  deepEqual([result, awaited], ['written', [1, 2]])
  await rejects(
    retryAllocationConflicts(deps, signal, () => Promise.reject(new Error('other'))),
    /other/,
  )
  await rejects(
    retryAllocationConflicts(deps, signal, () => Promise.reject(new AllocationConflict(9))),
    AllocationConflict,
  )
})
