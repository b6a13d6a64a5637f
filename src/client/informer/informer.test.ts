// Informers on a scripted transport and a virtual clock: lists in pages, watches that end, break or expire, backoff.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { causeOf, type FlowId } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { configMap, type ConfigMap } from '../../api/core/v1/config-map.ts'
import { expired } from '../../api/errors/status-error.ts'
import { Client } from '../client.ts'
import type { ClientEvent, ListPage, Transport } from '../transport/transport.ts'
import { byNamespace, byOwnerUid, Informer } from './informer.ts'
import { Informers } from './informers.ts'

const object = (name: string, version: number, extra: object = {}): ConfigMap => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: {
    name,
    namespace: 'default',
    uid: name,
    resourceVersion: String(version),
    creationTimestamp: '',
    ...extra,
  },
})

const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', item: ConfigMap): ClientEvent => ({
  type,
  object: item,
  cause: causeOf(1 as FlowId, 1),
})

type List = Partial<ListPage> & { readonly items: readonly ConfigMap[]; readonly revision: number }

/** A watch sends its events and then ends, fails with the last entry, or stays open. */
type Watch = readonly (ClientEvent | Error)[] | 'open'

interface Request {
  readonly text: string
  readonly atMs: number
}

/** A transport that follows a script: each list and each watch takes the next entry. Later watches stay open. */
function scripted(clock: VirtualClock, lists: readonly (List | Error)[], watches: readonly Watch[]) {
  const nextLists = [...lists]
  const nextWatches = [...watches]
  const requests: Request[] = []
  const record = (text: string) => requests.push({ text, atMs: clock.monotonicMs() })
  const transport: Transport = {
    read: () => Promise.reject(new Error('not scripted')),
    readText: () => Promise.reject(new Error('not scripted')),
    send: () => Promise.reject(new Error('not scripted')),
    list: ({ query }) => {
      const page = ['limit', 'continue'].flatMap((name) =>
        query[name] === undefined ? [] : [`${name}=${query[name]}`],
      )
      record(['list', ...page].join(' '))
      const next = nextLists.shift() ?? new Error('no more lists')
      return next instanceof Error ? Promise.reject(next) : Promise.resolve({ continueToken: '', ...next })
    },
    async *watch({ query }) {
      record(`watch ${query['resourceVersion']}`)
      const next = nextWatches.shift() ?? 'open'
      if (next === 'open') await new Promise(() => {})
      else
        for (const entry of next)
          if (entry instanceof Error) throw entry
          else yield [entry]
    },
  }
  return { client: new Client(transport), requests }
}

async function run(lists: readonly (List | Error)[], watches: readonly Watch[], { seed = 1, duration = '10s' } = {}) {
  const clock = new VirtualClock()
  const { client, requests } = scripted(clock, lists, watches)
  const deps = { clock, random: seededRandom(seed), log: silentLog }
  const informer = new Informer<ConfigMap>(configMap, client.of(configMap), deps)
  const changes: string[] = []
  informer.addIndex('owner', byOwnerUid)
  informer.addIndex('namespace', byNamespace)
  informer.onChange(({ key, now, before }) =>
    changes.push(`${key} ${before?.metadata.resourceVersion ?? '-'}→${now?.metadata.resourceVersion ?? '-'}`),
  )
  const stop = new AbortController()
  const running = informer.run(stop.signal).catch(() => {})
  await clock.advance(duration)
  stop.abort()
  await Promise.race([running, clock.settle()])
  return { informer, changes, requests, texts: requests.map(({ text }) => text) }
}

/** The time between a watch and the next request. */
const delays = (requests: readonly Request[]): number[] =>
  requests.flatMap(({ text, atMs }, index) => {
    const next = requests[index + 1]
    return text.startsWith('watch') && next !== undefined ? [next.atMs - atMs] : []
  })

/** Checks that each delay is between its backoff and twice the backoff. */
function assertBackoffs(found: readonly number[], backoffs: readonly number[]): void {
  equal(found.length, backoffs.length, found.join())
  for (const [index, backoff] of backoffs.entries()) {
    const delay = found[index] ?? 0
    ok(delay >= backoff && delay <= 2 * backoff, `delay ${index} is ${delay} ms; its backoff is ${backoff} ms`)
  }
}

test('a watch that ends is resumed from the last revision', async () => {
  const { texts, changes } = await run(
    [{ items: [object('a', 5)], revision: 6 }],
    [[event('MODIFIED', object('a', 7)), { type: 'BOOKMARK', revision: 9 }], [event('DELETED', object('a', 10))]],
    { duration: '300ms' },
  )
  deepEqual(texts, ['list limit=500', 'watch 6', 'watch 9', 'watch 10'])
  deepEqual(changes, ['default/a -→5', 'default/a 5→7', 'default/a 7→-'])
})

test('after a 410 the informer lists again and reports the difference', async () => {
  const lists = [
    { items: [object('a', 1), object('b', 2)], revision: 3 },
    { items: [object('b', 2), object('c', 8)], revision: 9 },
  ]
  const { texts, changes, informer } = await run(lists, [[expired('too old')]])
  deepEqual(texts, ['list limit=500', 'watch 3', 'list limit=500', 'watch 9'])
  deepEqual(changes, ['default/a -→1', 'default/b -→2', 'default/a 1→-', 'default/c -→8'])
  equal(informer.revision, 9)
})

test('after another failure the informer watches again from the same revision', async () => {
  const { texts } = await run([{ items: [], revision: 3 }], [[new Error('reset')], [new Error('reset')]])
  deepEqual(texts, ['list limit=500', 'watch 3', 'watch 3', 'watch 3'])
})

const ends: [what: string, watch: Watch][] = [
  ['410', [expired('too old')]],
  ['a clean end', []],
  ['a failure', [new Error('reset')]],
]
for (const [what, watch] of ends) {
  test(`${what} of watches without events: the delay doubles, from 100 ms to 30 s, with jitter`, async () => {
    const attempts = 11
    const lists = Array.from({ length: attempts }, (_, index) => ({ items: [], revision: index + 1 }))
    const watches = Array.from({ length: attempts - 1 }, () => watch)
    const { requests } = await run(lists, watches, { duration: '10m' })
    const backoffs = [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000]
    assertBackoffs(delays(requests), backoffs)
  })

  test(`${what} of watches: the first event resets the delay`, async () => {
    const changed = (version: number) => event('MODIFIED', object('a', version))
    const lists = Array.from({ length: 6 }, (_, index) => ({ items: [object('a', index)], revision: index }))
    const { requests } = await run(lists, [watch, watch, [changed(10), ...(watch as Error[])], watch, watch])
    assertBackoffs(delays(requests), [100, 200, 100, 200, 400])
  })

  test(`${what} of watches: a bookmark resets the delay`, async () => {
    const lists = Array.from({ length: 4 }, (_, index) => ({ items: [], revision: index }))
    const bookmark: ClientEvent = { type: 'BOOKMARK', revision: 9 }
    const { requests } = await run(lists, [watch, [bookmark, ...(watch as Error[])], watch])
    assertBackoffs(delays(requests), [100, 100, 200])
  })
}

test('informers with different seeds return at different times', async () => {
  const times = await Promise.all(
    [1, 2, 3, 4].map(async (seed) => {
      const { requests } = await run([{ items: [], revision: 1 }], [[]], { seed })
      return requests.at(-1)?.atMs
    }),
  )
  equal(new Set(times).size, 4, times.join())
})

test('a failed list is repeated after the backoff', async () => {
  const { requests } = await run([new Error('refused'), new Error('refused'), { items: [], revision: 1 }], [])
  deepEqual(
    requests.map(({ text }) => text),
    ['list limit=500', 'list limit=500', 'list limit=500', 'watch 1'],
  )
  const [first, second, third] = requests
  assertBackoffs([(second?.atMs ?? 0) - (first?.atMs ?? 0), (third?.atMs ?? 0) - (second?.atMs ?? 0)], [100, 200])
})

test('a list is read in pages and applied when the last one has arrived', async () => {
  const { texts, changes, informer } = await run(
    [
      { items: [object('a', 1)], revision: 5, continueToken: 'two' },
      { items: [object('b', 2)], revision: 5, continueToken: 'three' },
      { items: [object('c', 3)], revision: 5 },
    ],
    [],
  )
  deepEqual(texts, ['list limit=500', 'list limit=500 continue=two', 'list limit=500 continue=three', 'watch 5'])
  deepEqual(changes, ['default/a -→1', 'default/b -→2', 'default/c -→3'])
  equal(informer.revision, 5)
})

test('a page that fails leaves the cache unchanged; the next attempt starts with the first page', async () => {
  const { texts, changes } = await run(
    [
      { items: [object('a', 1)], revision: 5, continueToken: 'two' },
      new Error('reset'),
      { items: [object('b', 6)], revision: 7 },
    ],
    [],
  )
  deepEqual(texts, ['list limit=500', 'list limit=500 continue=two', 'list limit=500', 'watch 7'])
  deepEqual(changes, ['default/b -→6'])
})

test('a continue token that has expired: the list is read again, without a limit and at once', async () => {
  const { texts, changes, requests, informer } = await run(
    [
      { items: [object('a', 1)], revision: 5, continueToken: 'two' },
      expired('The provided continue parameter is too old'),
      { items: [object('a', 8), object('b', 2)], revision: 9 },
    ],
    [],
  )
  deepEqual(texts, ['list limit=500', 'list limit=500 continue=two', 'list', 'watch 9'])
  deepEqual(changes, ['default/a -→8', 'default/b -→2'], 'nothing of the first page is reported')
  deepEqual(
    requests.map(({ atMs }) => atMs),
    requests.map(() => requests[0]?.atMs),
  )
  equal(informer.revision, 9)
})

test('indexes follow the objects', async () => {
  const owned = (version: number, ...uids: string[]) =>
    object('a', version, { ownerReferences: uids.map((uid) => ({ uid, name: uid, kind: 'X', apiVersion: 'v1' })) })
  const { informer } = await run([{ items: [owned(1, 'x')], revision: 1 }], [[event('MODIFIED', owned(2, 'y', 'z'))]])
  deepEqual(
    ['x', 'y', 'z'].map((uid) => informer.byIndex('owner', uid).length),
    [0, 1, 1],
  )
  equal(informer.byIndex('namespace', 'default').length, 1)
  const late: string[] = []
  informer.onChange(({ key }) => late.push(key))
  deepEqual(late, ['default/a'], 'a handler that is added later is called for the cached objects')
})

test('informers are shared by kind and report when all have listed', async () => {
  const tasks = new TaskGroup()
  const clock = new VirtualClock()
  const { client, requests } = scripted(clock, [{ items: [], revision: 1 }], [])
  const informers = new Informers(client, { clock, random: seededRandom(1), log: silentLog }, tasks)
  equal(informers.of(configMap), informers.of(configMap))
  await informers.synced()
  equal(requests[0]?.text, 'list limit=500')
  tasks.stop()
})

test('a metadata informer that is stopped between two attempts does not fail the tasks of its component', async () => {
  const failures: string[] = []
  const tasks = new TaskGroup({ onFailure: (task) => failures.push(task) })
  const clock = new VirtualClock()
  const { client, requests } = scripted(clock, [new Error('the kind is not served any more')], [])
  const informers = new Informers(client, { clock, random: seededRandom(1), log: silentLog }, tasks)
  const stop = new AbortController()
  informers.metadataOf(configMap, stop.signal)
  await clock.settle()
  equal(requests.length, 1)
  stop.abort()
  await tasks.join()
  deepEqual([failures, tasks.signal.aborted], [[], false])
})

test('handlers of a long list run in slices, and other work runs between them', async () => {
  /** A clock that advances with every reading, as if each handler took long. */
  class BusyClock extends VirtualClock {
    #ms = 0
    override monotonicMs = (): number => (this.#ms += 2)
  }
  const clock = new BusyClock()
  const items = Array.from({ length: 20 }, (_, index) => object(`m${index}`, index + 1))
  const { client } = scripted(clock, [{ items, revision: 20 }], [])
  const informer = new Informer<ConfigMap>(configMap, client.of(configMap), {
    clock,
    random: seededRandom(1),
    log: silentLog,
  })
  const inTurns: number[] = []
  let handled = 0
  informer.onChange(() => void handled++)
  const stop = new AbortController()
  const running = informer.run(stop.signal).catch(() => {})
  while (handled < items.length) {
    const before = handled
    await eventLoopTurn()
    if (handled > before) inTurns.push(handled - before)
  }
  ok(inTurns.length > 3 && Math.max(...inTurns) < items.length / 2, inTurns.join())
  stop.abort()
  await Promise.race([running, eventLoopTurn()])
})

test('handlers of a long list have a share of the time, however long the turns of the event loop are', async () => {
  /** Each handler takes a millisecond, and other work a second between two slices. */
  class SlowClock extends VirtualClock {
    ms = 0
    override monotonicMs = (): number => this.ms
    override async outside<T>(work: Promise<T>): Promise<T> {
      const result = await work
      this.ms += 1_000
      return result
    }
  }
  const clock = new SlowClock()
  const items = Array.from({ length: 1_000 }, (_, index) => object(`m${index}`, index + 1))
  const { client } = scripted(clock, [{ items, revision: 1_000 }], [])
  const deps = { clock, random: seededRandom(1), log: silentLog }
  const informer = new Informer<ConfigMap>(configMap, client.of(configMap), deps)
  informer.onChange(() => void clock.ms++)
  const stop = new AbortController()
  const running = informer.run(stop.signal).catch(() => {})
  await informer.synced
  // With slices of 5 ms it would be 200 turns.
  ok(clock.ms < 10_000, `${clock.ms}`)
  stop.abort()
  await Promise.race([running, eventLoopTurn()])
})
