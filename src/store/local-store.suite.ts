// What a store in this process can do beyond the contract: decided transactions, versions of keys, leases by id.
import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { LocalStore, StoreState } from './local-store.ts'
import { Compacted, FutureRevision, LeaseExists, LeaseNotFound, operationsMax, type Operation } from './store.ts'

const { signal } = new AbortController()
const bytes = (text: string) => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined) => (value === undefined ? undefined : new TextDecoder().decode(value))
const put = (key: string, value: string, lease?: number): Operation => ({
  kind: 'put',
  key,
  value: bytes(value),
  ...(lease === undefined ? {} : { lease }),
})
const remove = (key: string): Operation => ({ kind: 'delete', key })
const write = (store: LocalStore, ...operations: Operation[]) =>
  store.transact(() => ({ operations, result: undefined }), signal)

export interface LocalStoreUnderTest {
  readonly store: LocalStore
  pass(ms: number): Promise<void>
}

export function localStoreContract(driver: string, open: () => Promise<LocalStoreUnderTest>): void {
  const contract = (name: string, body: (under: LocalStoreUnderTest) => Promise<void>): void => {
    test(`${driver}: ${name}`, async () => {
      const under = await open()
      try {
        await body(under)
      } finally {
        await under.store.close()
      }
    })
  }

  contract('a key counts its puts, and starts again when it was deleted', async ({ store }) => {
    const seen: (number | undefined)[] = []
    for (const operation of [put('/a', '1'), put('/a', '2'), remove('/a'), put('/a', '3')]) {
      await write(store, operation)
      seen.push((await store.get('/a', signal))?.version)
    }
    deepEqual(seen, [1, 2, undefined, 1])
  })

  contract('concurrent transactions each decide on the result of the one before', async ({ store }) => {
    const increment = ({ state }: StoreState) => {
      const next = Number(text(state.get('/counter')?.value) ?? 0) + 1
      return { operations: [put('/counter', String(next))], result: next }
    }
    const before = store.revision
    const done = await Promise.all(Array.from({ length: 50 }, () => store.transact(increment, signal)))
    deepEqual(
      done,
      done.map((_, index) => ({ revision: before + index + 1, result: index + 1 })),
    )
    equal(text((await store.get('/counter', signal))?.value), '50')
  })

  contract(
    'a transaction without operations takes no revision, and a failed decision changes nothing',
    async ({ store }) => {
      await write(store, put('/a', '1'))
      const before = store.revision
      deepEqual(await store.transact(() => ({ operations: [], result: 'read' }), signal), {
        revision: before,
        result: 'read',
      })
      const failing = store.transact((): never => {
        throw new RangeError('decided')
      }, signal)
      await rejects(failing, RangeError)
      await rejects(write(store, put('/a', '2', 77)), LeaseNotFound)
      equal(store.revision, before)
      equal(text((await store.get('/a', signal))?.value), '1')
    },
  )

  contract('more deletions than a revision may have take several revisions', async ({ store }) => {
    const keys = Array.from({ length: operationsMax * 2 + 1 }, (_, index) => `/many/${index}`)
    for (const key of keys) await write(store, put(key, 'x'))
    const before = store.revision
    equal((await write(store, ...keys.map(remove))).revision, before + 3)
    equal((await store.range({ start: '/many/', end: '' }, signal)).items.length, 0)
    deepEqual(
      store.changesSince(before + 1).map(({ revision, events }) => [revision, events.length]),
      [
        [before + 1, operationsMax],
        [before + 2, operationsMax],
        [before + 3, 1],
      ],
    )
  })

  contract('old states and changes can be read until they are compacted', async ({ store }) => {
    for (const value of ['1', '2', '3']) await write(store, put('/a', value))
    const { revision } = store
    equal(text(store.stateAt(revision - 1).state.get('/a')?.value), '2')
    await store.compact(revision - 1, signal)
    equal(store.compacted, revision - 1)
    equal(text(store.stateAt(revision - 1).state.get('/a')?.value), '2')
    throws(() => store.stateAt(revision - 2), Compacted)
    throws(() => store.changesSince(revision - 1), Compacted)
    throws(() => store.stateAt(revision + 1), FutureRevision)
    deepEqual(
      store.changesSince(revision).map((change) => change.revision),
      [revision],
    )
    deepEqual(store.changesSince(revision + 5), [])
  })

  contract('a lease has the id that was asked for, until it ends', async ({ store }) => {
    equal(await store.grantLease(60_000, signal, 12_345), 12_345)
    await rejects(store.grantLease(60_000, signal, 12_345), LeaseExists)
    await write(store, put('/l/b', '1', 12_345), put('/l/a', '1', 12_345))
    deepEqual(store.keysOf(12_345), ['/l/a', '/l/b'])
    equal(store.leases.get(12_345)?.ttlMs, 60_000)
    await store.revokeLease(12_345, signal)
    equal(store.leases.get(12_345), undefined)
    equal(await store.get('/l/a', signal), undefined)
    equal(await store.grantLease(60_000, signal, 12_345), 12_345)
    deepEqual(store.keysOf(12_345), [])
  })

  contract('a renewed lease lives its time from then on', async ({ store, pass }) => {
    const [kept, left] = [await store.grantLease(10_000, signal), await store.grantLease(10_000, signal)]
    await write(store, put('/kept', '1', kept), put('/left', '1', left))
    await pass(8_000)
    const renewed = await store.renewLease(kept, signal)
    equal(renewed?.ttlMs, 10_000)
    await pass(8_000)
    equal(await store.get('/left', signal), undefined)
    equal(text((await store.get('/kept', signal))?.value), '1')
    equal(await store.renewLease(left, signal), undefined)
    await pass(8_000)
    equal(await store.get('/kept', signal), undefined)
    deepEqual(store.leases.all(), [])
  })

  contract('watchers receive decided transactions', async ({ store }) => {
    const batches = store.watch({ prefix: '/w/', from: store.revision + 1 }, signal)[Symbol.asyncIterator]()
    await write(store, put('/w/a', '1'), put('/w/b', '2'))
    const { value } = await batches.next()
    deepEqual(
      value?.events.map((event) => (event.kind === 'put' ? `${event.item.key}=${text(event.item.value)}` : event.key)),
      ['/w/a=1', '/w/b=2'],
    )
    await batches.return?.()
  })
}
