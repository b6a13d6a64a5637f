// The contract suite that every store driver must pass unchanged. The test of a driver calls storeContract().
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import {
  Compacted,
  FutureRevision,
  LeaseNotFound,
  operationsMax,
  transactionBytesMax,
  TransactionInvalid,
  TransactionTooLarge,
  type Operation,
  type Store,
  type StoreBatch,
} from './store.ts'

const { signal } = new AbortController()
const bytes = (text: string) => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined) => (value === undefined ? undefined : new TextDecoder().decode(value))

const put = (key: string, value: string) => ({ kind: 'put', key, value: bytes(value) }) as const
const write = (store: Store, key: string, value: string) =>
  store.commit({ conditions: [], operations: [put(key, value)] }, signal)

async function collect(batches: AsyncIterable<StoreBatch>, count: number): Promise<string[]> {
  const seen: string[] = []
  for await (const { revision, events } of batches) {
    for (const event of events) {
      equal(event.revision, revision, 'a batch is one revision')
      seen.push(
        event.kind === 'put'
          ? `${event.revision} put ${event.item.key}=${text(event.item.value)} was ${text(event.previous?.value)}`
          : `${event.revision} delete ${event.key} was ${text(event.previous.value)}`,
      )
    }
    if (seen.length >= count) break
  }
  return seen
}

export interface StoreUnderTest {
  readonly store: Store
  /** Waits until leases have aged by at least `ms`. */
  pass(ms: number): Promise<void>
  /** The time to live of a lease that is to expire during a test; longer than writing its keys takes. */
  readonly leaseMs: number
}

export function storeContract(driver: string, open: () => Promise<StoreUnderTest>): void {
  const contract = (name: string, body: (under: StoreUnderTest) => Promise<void>): void => {
    test(`${driver}: ${name}`, async () => {
      const under = await open()
      try {
        await body(under)
      } finally {
        await under.store.close()
      }
    })
  }

  contract('a write is read back with its revisions', async ({ store }) => {
    const before = store.revision
    const created = await write(store, '/a', '1')
    const changed = await write(store, '/a', '2')
    deepEqual(
      [created, changed],
      [
        { kind: 'committed', revision: before + 1 },
        { kind: 'committed', revision: before + 2 },
      ],
    )
    equal(await store.freshRevision(signal), before + 2)
    const item = await store.get('/a', signal)
    deepEqual(
      { key: item?.key, value: text(item?.value), made: item?.createRevision, changed: item?.modRevision },
      { key: '/a', value: '2', made: before + 1, changed: before + 2 },
    )
    equal(await store.get('/none', signal), undefined)
  })

  // What was written last may not be included: etcd writes to its file in batches.
  contract('a store on a disk has a size', async ({ store }) => {
    await write(store, '/a', 'x')
    const size = await store.sizeBytes?.(signal)
    ok(size === undefined || size > 0, `${size} bytes`)
  })

  contract('a condition that does not hold changes nothing', async ({ store }) => {
    await write(store, '/a', '1')
    const { modRevision = 0 } = (await store.get('/a', signal)) ?? {}
    const before = store.revision
    for (const wrong of [0, modRevision - 1, modRevision + 1]) {
      const conditions = [{ key: '/a', modRevision: wrong }]
      deepEqual(await store.commit({ conditions, operations: [put('/a', 'x'), put('/b', 'x')] }, signal), {
        kind: 'conflict',
        revision: before,
      })
    }
    equal(store.revision, before)
    equal(await store.get('/b', signal), undefined)
    const right = {
      conditions: [
        { key: '/a', modRevision },
        { key: '/b', modRevision: 0 },
      ],
      operations: [put('/a', '2'), put('/b', '2')],
    }
    equal((await store.commit(right, signal)).kind, 'committed')
    equal((await store.get('/a', signal))?.modRevision, (await store.get('/b', signal))?.modRevision)
  })

  contract('ranges: prefix, limit, remaining, old revisions', async ({ store }) => {
    for (const key of ['/p/b', '/p/a', '/q/x', '/p/c', '/p0']) await write(store, key, key)
    const old = store.revision
    await store.commit({ conditions: [], operations: [{ kind: 'delete', key: '/p/a' }] }, signal)
    const keys = async (options: object) => {
      const { items, remaining, revision } = await store.range({ start: '/p/', end: '/p0', ...options }, signal)
      return { keys: items.map(({ key }) => key), remaining, revision }
    }
    deepEqual(await keys({}), { keys: ['/p/b', '/p/c'], remaining: 0, revision: old + 1 })
    deepEqual(await keys({ limit: 1 }), { keys: ['/p/b'], remaining: 1, revision: old + 1 })
    deepEqual(await keys({ revision: old }), { keys: ['/p/a', '/p/b', '/p/c'], remaining: 0, revision: old })
    await rejects(keys({ revision: old + 100 }), FutureRevision)
  })

  contract('a watch delivers every change in order, with the previous value', async ({ store }) => {
    const from = store.revision + 1
    await write(store, '/w/a', '1')
    const watching = collect(store.watch({ prefix: '/w/', from }, signal), 4)
    await write(store, '/w/a', '2')
    await write(store, '/other', 'x')
    await store.commit({ conditions: [], operations: [{ kind: 'delete', key: '/w/a' }, put('/w/b', '3')] }, signal)
    deepEqual(await watching, [
      `${from} put /w/a=1 was undefined`,
      `${from + 1} put /w/a=2 was 1`,
      `${from + 3} delete /w/a was 2`,
      `${from + 3} put /w/b=3 was undefined`,
    ])
  })

  contract('deleting a key that does not exist creates no revision', async ({ store }) => {
    const before = store.revision
    await store.commit({ conditions: [], operations: [{ kind: 'delete', key: '/none' }] }, signal)
    equal(store.revision, before)
  })

  contract('reads and watches below the compacted revision fail with Compacted', async ({ store }) => {
    for (let i = 0; i < 5; i++) await write(store, '/a', String(i))
    const compacted = store.revision - 1
    await store.compact(compacted, signal)
    await rejects(store.range({ start: '/', end: '', revision: compacted - 1 }, signal), Compacted)
    await rejects(collect(store.watch({ prefix: '/', from: compacted - 1 }, signal), 1), Compacted)
    equal((await store.range({ start: '/', end: '', revision: compacted }, signal)).items.length, 1)
    equal((await collect(store.watch({ prefix: '/', from: compacted + 1 }, signal), 1)).length, 1)
  })

  contract(
    'keys are deleted with their lease, unless a later put removed the lease',
    async ({ store, pass, leaseMs }) => {
      const lease = await store.grantLease(leaseMs, signal)
      await store.commit(
        {
          conditions: [],
          operations: [
            { ...put('/l/a', '1'), lease },
            { ...put('/l/b', '1'), lease },
          ],
        },
        signal,
      )
      await write(store, '/l/b', '2')
      const watching = collect(store.watch({ prefix: '/l/', from: store.revision + 1 }, signal), 1)
      await pass(leaseMs * 1.5)
      deepEqual(
        (await watching).map((line) => line.slice(line.indexOf(' ') + 1)),
        ['delete /l/a was 1'],
      )
      equal(text((await store.get('/l/b', signal))?.value), '2')
      const other = await store.grantLease(60_000, signal)
      await store.commit({ conditions: [], operations: [{ ...put('/l/c', '1'), lease: other }] }, signal)
      await store.revokeLease(other, signal)
      equal(await store.get('/l/c', signal), undefined)
    },
  )

  contract('a put with an expired lease is rejected', async ({ store }) => {
    const lease = await store.grantLease(60_000, signal)
    await store.revokeLease(lease, signal)
    const before = store.revision
    const late = store.commit({ conditions: [], operations: [{ ...put('/l/late', '1'), lease }] }, signal)
    await rejects(late, LeaseNotFound)
    equal(store.revision, before)
  })

  contract('a lease with more keys than fit in a transaction deletes all of them', async ({ store, pass, leaseMs }) => {
    const lease = await store.grantLease(leaseMs, signal)
    const rounds = 3
    for (let round = 0; round < rounds; round++) {
      const operations = Array.from({ length: operationsMax }, (_, i) => ({ ...put(`/m/${round}/${i}`, '1'), lease }))
      await store.commit({ conditions: [], operations }, signal)
    }
    const count = operationsMax * rounds
    const watching = collect(store.watch({ prefix: '/m/', from: store.revision + 1 }, signal), count)
    await pass(leaseMs * 1.5)
    equal((await watching).length, count)
    equal((await store.range({ start: '/m/', end: '/m0' }, signal)).items.length, 0)
  })

  contract('transactions that exceed the limits of etcd are rejected by every driver', async ({ store }) => {
    const before = store.revision
    const twice = store.commit({ conditions: [], operations: [put('/a', '1'), put('/a', '2')] }, signal)
    await rejects(twice, TransactionInvalid)
    const operations = Array.from({ length: operationsMax + 1 }, (_, i) => put(`/a/${i}`, '1'))
    await rejects(store.commit({ conditions: [], operations }, signal), TransactionInvalid)
    equal(store.revision, before)
  })

  contract(
    'a transaction of up to 1.5 MiB is committed by every driver, and a larger one rejected',
    async ({ store }) => {
      const sized = (key: string, size: number): Operation => ({ kind: 'put', key, value: new Uint8Array(size) })
      const half = transactionBytesMax / 2
      const overhead = 1_000
      const { kind } = await store.commit({ conditions: [], operations: [sized('/a', 2 * half - overhead)] }, signal)
      equal(kind, 'committed')
      await store.commit({ conditions: [], operations: [sized('/b', half - overhead), sized('/c', half)] }, signal)
      const before = store.revision
      const tooLarge = [
        [sized('/a', transactionBytesMax)],
        [sized('/a', 3 * transactionBytesMax)],
        [sized('/b', half), sized('/c', half)],
      ]
      for (const operations of tooLarge)
        await rejects(store.commit({ conditions: [], operations }, signal), (error: Error) => {
          equal(error.message, 'etcdserver: request is too large')
          return error instanceof TransactionTooLarge
        })
      equal(store.revision, before)
    },
  )

  contract('a watch from an old revision delivers a long history', async ({ store }) => {
    const from = store.revision + 1
    for (let i = 0; i < 30; i++)
      await Promise.all(Array.from({ length: 50 }, (_, k) => write(store, `/past/${k}`, String(i))))
    const lines = await collect(store.watch({ prefix: '/past/', from }, signal), 1500)
    deepEqual(
      lines.map((line) => Number(line.split(' ')[0])),
      Array.from({ length: 1500 }, (_, i) => from + i),
    )
  })

  contract('a writer gets its result before the watchers get the event', async ({ store }) => {
    const order: string[] = []
    const watching = (async () => {
      for await (const { events } of store.watch({ prefix: '/o/', from: store.revision + 1 }, signal)) {
        if (events.length === 0) continue
        order.push('watcher')
        if (order.length >= 6) break
      }
    })()
    for (let i = 0; i < 3; i++) {
      await write(store, '/o/a', String(i))
      order.push('writer')
    }
    await watching
    // Watchers may learn of a write later, over a network much later, but never before its writer.
    let ahead = 0
    for (const who of order) {
      ahead += who === 'writer' ? 1 : -1
      ok(ahead >= 0, order.join())
    }
    equal(ahead, 0)
  })

  contract('concurrent conditional writers of one key each succeed once', async ({ store }) => {
    await write(store, '/counter', '0')
    const increment = async () => {
      for (;;) {
        const item = await store.get('/counter', signal)
        const next = put('/counter', String(Number(text(item?.value)) + 1))
        const conditions = [{ key: '/counter', modRevision: item?.modRevision ?? 0 }]
        if ((await store.commit({ conditions, operations: [next] }, signal)).kind === 'committed') return
      }
    }
    await Promise.all(Array.from({ length: 50 }, increment))
    equal(text((await store.get('/counter', signal))?.value), '50')
  })

  contract('a thousand watchers receive the same events', async ({ store }) => {
    const from = store.revision + 1
    const watchers = Array.from({ length: 1000 }, () => collect(store.watch({ prefix: '/f/', from }, signal), 3))
    for (let i = 0; i < 3; i++) await write(store, `/f/${i}`, 'x')
    const seen = await Promise.all(watchers)
    equal(new Set(seen.map((lines) => lines.join())).size, 1)
  })

  contract('aborting ends a watch', async ({ store }) => {
    const controller = new AbortController()
    const watching = collect(store.watch({ prefix: '/', from: store.revision + 1 }, controller.signal), 1)
    controller.abort()
    deepEqual(await watching, [])
  })
}
