// The etcd driver behind connections that are refused, cut anywhere, slow, or lose responses to requests that were
// applied: no acknowledged write is lost, none is applied twice, and watches resume without gaps and duplicates. A seed
// determines the faults; COXSWAIN_SEED=<n> repeats one, COXSWAIN_LONG=1 tries twenty.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { realClock } from '../../src/base/time/clock.ts'
import { seededRandom, type Random } from '../../src/base/random/random.ts'
import { StoreUnavailable, type CommitResult, type Store, type Transaction } from '../../src/store/store.ts'
import { EtcdCluster, newestEtcd } from '../etcd.ts'
import { until } from '../until.ts'
import { FaultProxy, type Fault } from './fault-proxy.ts'

const { signal } = new AbortController()
const members = 3
const writers = 4
/** How often each kind of fault occurs; the seed determines the order. */
const rounds = 2
const acknowledgedBetweenFaults = 20
const retryMs = 5
const faultMsMax = 1_500
const responseBytesMax = 2_000
const delayMsMax = 400

const { COXSWAIN_SEED, COXSWAIN_LONG } = process.env
const seeds =
  COXSWAIN_SEED !== undefined
    ? [Number(COXSWAIN_SEED)]
    : Array.from({ length: COXSWAIN_LONG === '1' ? 20 : 2 }, (_, index) => index + 1)

const kinds: Readonly<Record<Fault['kind'], (random: Random) => Fault>> = {
  refuse: () => ({ kind: 'refuse' }),
  cut: (random) => ({ kind: 'cut', afterBytes: random.below(responseBytesMax) }),
  'drop-responses': () => ({ kind: 'drop-responses' }),
  delay: (random) => ({ kind: 'delay', ms: 1 + random.below(delayMsMax) }),
}

const text = (value: Uint8Array | undefined): string => new TextDecoder().decode(value)
const put = (key: string, value: string) => ({ kind: 'put', key, value: new TextEncoder().encode(value) }) as const

/** The outcomes of writes, by their unique ids. */
class Outcomes {
  readonly acknowledged = new Map<string, number>()
  readonly rejected = new Set<string>()
  /** The driver could not determine the outcome. */
  readonly ambiguous = new Set<string>()

  /** Commits; returns the result if it is known. */
  async commit(store: Store, id: string, transaction: Transaction): Promise<CommitResult | undefined> {
    try {
      const result = await store.commit(transaction, signal)
      if (result.kind === 'committed') this.acknowledged.set(id, result.revision)
      else this.rejected.add(id)
      return result
    } catch (error) {
      ok(error instanceof StoreUnavailable, String(error))
      this.ambiguous.add(id)
      await realClock.sleep(retryMs, signal)
      return undefined
    }
  }
}

/** Reads a key; undefined when the store is unavailable. */
async function read(store: Store, key: string) {
  try {
    const item = await store.get(key, signal)
    return { value: text(item?.value), modRevision: item?.modRevision ?? 0 }
  } catch (error) {
    ok(error instanceof StoreUnavailable, String(error))
    await realClock.sleep(retryMs, signal)
    return undefined
  }
}

/** Puts unique values without a condition, and never reads a value older than the last acknowledged one. */
async function putUnconditionally(store: Store, name: string, outcomes: Outcomes, stopped: AbortSignal): Promise<void> {
  const key = `/put/${name}`
  for (let number = 0; !stopped.aborted; number++) {
    const id = `${name}-${number}`
    const result = await outcomes.commit(store, id, { conditions: [], operations: [put(key, id), put('/pair', id)] })
    const item = await read(store, key)
    if (result !== undefined && item !== undefined) ok(item.modRevision >= result.revision, `${key} is stale`)
  }
}

/** Appends unique values to one list, each on the condition that it has not changed since it was read. */
async function append(store: Store, name: string, outcomes: Outcomes, stopped: AbortSignal): Promise<void> {
  for (let number = 0; !stopped.aborted; number++) {
    const item = await read(store, '/list')
    if (item === undefined) continue
    const id = `${name}-${number}`
    const conditions = [{ key: '/list', modRevision: item.modRevision }]
    await outcomes.commit(store, id, { conditions, operations: [put('/list', `${item.value}${id} `)] })
  }
}

/** A watch that records its events as text. */
class Watch {
  readonly prefix: string
  readonly events: string[] = []
  revision: number
  readonly #running: Promise<void>
  readonly #stopped = new AbortController()

  constructor(store: Store, prefix: string, from: number) {
    this.prefix = prefix
    this.revision = from - 1
    this.#running = this.#run(store, from)
    this.#running.catch(() => {}) // reach() reports it
  }

  async #run(store: Store, from: number): Promise<void> {
    for await (const { revision, events } of store.watch({ prefix: this.prefix, from }, this.#stopped.signal)) {
      ok(revision > this.revision, `revision ${revision} was delivered after ${this.revision}`)
      this.revision = revision
      for (const event of events) {
        ok(event.kind === 'put')
        const { key, value } = event.item
        this.events.push(`${revision} ${key}=${text(value)} previously ${event.previous?.modRevision ?? 0}`)
      }
    }
  }

  async reach(revision: number): Promise<void> {
    await Promise.race([this.#running, until(() => this.revision >= revision)])
    this.#stopped.abort()
    await this.#running
  }
}

let cluster: EtcdCluster
before(async () => void (cluster = await EtcdCluster.start(newestEtcd(), members)))
after(() => cluster[Symbol.asyncDispose]())

async function run(seed: number): Promise<void> {
  const random = seededRandom(seed)
  await using stack = new AsyncDisposableStack()
  const proxies: FaultProxy[] = []
  for (const endpoint of cluster.endpoints) proxies.push(stack.use(await FaultProxy.start(endpoint)))
  const prefix = `/faults-${seed}`
  const direct = stack.adopt(await cluster.openStore({ prefix }), (store) => store.close())
  const store = stack.adopt(
    await cluster.openStore({ prefix, endpoints: proxies.map(({ endpoint }) => endpoint) }),
    (opened) => opened.close(),
  )
  const outcomes = new Outcomes()
  const from = store.revision + 1
  const watches = ['/', '/put/', '/list'].map((watched) => new Watch(store, watched, from))
  const truth = new Watch(direct, '/', from)
  const stopped = new AbortController()
  const writing = Promise.all(
    Array.from({ length: writers }, (_, index) => [
      putUnconditionally(store, `p${index}`, outcomes, stopped.signal),
      append(store, `a${index}`, outcomes, stopped.signal),
    ]).flat(),
  )
  try {
    await Promise.race([writing, disturb(proxies, random, () => outcomes.acknowledged.size)])
    await loseResponse(proxies, store, direct, outcomes)
  } finally {
    stopped.abort()
    await writing
  }
  const last = await direct.freshRevision(signal)
  for (const watch of [truth, ...watches]) await watch.reach(last)
  check(outcomes, truth, watches, text((await direct.get('/list', signal))?.value).split(' '))
}

async function disturb(proxies: readonly FaultProxy[], random: Random, acknowledged: () => number): Promise<void> {
  const progress = async () => {
    const target = acknowledged() + acknowledgedBetweenFaults
    await until(() => acknowledged() >= target)
  }
  await progress()
  for (const make of shuffled(Array.from({ length: rounds }, () => Object.values(kinds)).flat(), random)) {
    const isEverywhere = random.below(2) === 0
    const victim = random.below(members)
    const victims = isEverywhere ? proxies : proxies.slice(victim, victim + 1)
    for (const proxy of victims) proxy.set(make(random))
    await realClock.sleep(random.below(faultMsMax), signal)
    for (const proxy of proxies) proxy.set(undefined)
    await progress()
  }
}

/** Commits while responses are dropped: the commit is applied, but the driver cannot know it. */
async function loseResponse(proxies: readonly FaultProxy[], store: Store, direct: Store, outcomes: Outcomes) {
  for (const proxy of proxies) proxy.set({ kind: 'drop-responses' })
  const committing = outcomes.commit(store, 'lost', { conditions: [], operations: [put('/put/lost', 'lost')] })
  await until(async () => (await direct.get('/put/lost', signal)) !== undefined)
  // The connections are closed first, because the response may still be on its way to the proxy.
  for (const fault of [{ kind: 'refuse' }, undefined] as const) for (const proxy of proxies) proxy.set(fault)
  equal(await committing, undefined, 'the outcome of a commit without a response is unknown')
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, order: random.fraction() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item)
}

function check(outcomes: Outcomes, truth: Watch, watches: readonly Watch[], list: readonly string[]): void {
  for (const { prefix, events } of watches)
    deepEqual(
      events,
      truth.events.filter((event) => event.slice(event.indexOf(' ') + 1).startsWith(prefix)),
      `the events that the watch of ${prefix} delivered`,
    )
  const counts = new Map<string, number>()
  const count = (id: string) => counts.set(id, (counts.get(id) ?? 0) + 1)
  for (const id of list) if (id !== '') count(id)
  for (const event of truth.events) {
    const [, id] = /^\d+ \/put\/.*=(\S+)/.exec(event) ?? []
    if (id !== undefined) count(id)
  }
  for (const id of outcomes.acknowledged.keys()) equal(counts.get(id), 1, `acknowledged ${id} was applied once`)
  for (const id of outcomes.rejected) equal(counts.get(id), undefined, `rejected ${id} was not applied`)
  for (const id of outcomes.ambiguous) ok((counts.get(id) ?? 0) <= 1, `ambiguous ${id} was applied at most once`)
  equal(counts.get('lost'), 1, 'the commit without a response was applied once')
}

for (const seed of seeds)
  test(`seed ${seed}: faulty connections to etcd lose, repeat and reorder nothing`, async () => {
    try {
      await run(seed)
    } catch (error) {
      throw new Error(`repeat it with COXSWAIN_SEED=${seed}: ${(error as Error).message}`, { cause: error })
    }
  })
