// Throughput of the SQLite store on this machine's disk, with every write durable, compared with etcd on the same disk
// at the same time: writes, ranges, watches, start, file size, and how long the event loop is blocked.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { realClock } from '../src/base/time/clock.ts'
import { nodeWorkers } from '../src/platform/node/process/workers.ts'
import { SqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../src/store/store.ts'
import { EtcdCluster, newestEtcd } from '../test/etcd.ts'
import type { Bench } from './bench.ts'
import { holdOf } from './event-loop.ts'

const { signal } = new AbortController()
const startProgram = fileURLToPath(new URL('./store-start.ts', import.meta.url))
const value = new Uint8Array(1_000).fill(0x61)
const megabytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(1)

const open = (path: string) => SqliteStore.open({ path, clock: realClock, workers: nodeWorkers }, signal)
const put = (store: Store, key: string) =>
  store.commit({ conditions: [], operations: [{ kind: 'put', key, value }] }, signal)
const fileBytes = (path: string) => statSync(path).size + statSync(`${path}-wal`).size

/** Writes `count` values with this many writers; returns the elapsed seconds. */
async function write(store: Store, writers: number, count: number, key: (index: number) => string): Promise<number> {
  let next = 0
  const startMs = performance.now()
  const writer = async () => {
    while (next < count) await put(store, key(next++))
  }
  await Promise.all(Array.from({ length: writers }, writer))
  return (performance.now() - startMs) / 1000
}

interface Contender {
  readonly name: string
  readonly store: Store
}

const rounds = 3
const perSecond = (count: number, seconds: number) => Math.round(count / seconds).toLocaleString('en')

interface Outcome {
  readonly seconds: number
  /** The longest turn of the event loop. */
  readonly heldMs: number
}

/** Interleaved, so that other load on the machine affects both equally. */
async function compare(contenders: readonly Contender[], work: (store: Store) => Promise<number>): Promise<Outcome[]> {
  const outcomes = contenders.map(() => ({ seconds: 0, heldMs: 0 }))
  for (let round = 0; round < rounds; round++)
    for (const [index, { store }] of contenders.entries()) {
      const before = outcomes[index] ?? { seconds: 0, heldMs: 0 }
      const held = holdOf()
      const seconds = before.seconds + (await work(store))
      outcomes[index] = { seconds, heldMs: Math.max(before.heldMs, held()) }
    }
  return outcomes
}

function compared(contenders: readonly Contender[], count: number, outcomes: readonly Outcome[]): string {
  const figures = outcomes.map(
    ({ seconds, heldMs }, index) =>
      `${contenders[index]?.name} ${perSecond(count * rounds, seconds)}/s (loop held ${heldMs.toFixed(1)} ms)`,
  )
  const [ours, theirs] = outcomes.map(({ seconds }) => seconds)
  return `${figures.join(', ')}, ratio ${((theirs ?? 0) / (ours ?? 1)).toFixed(1)}`
}

async function puts(contenders: readonly Contender[]): Promise<string[]> {
  for (const { store } of contenders) await write(store, 64, 2_000, (index) => `/warm/${index % 1_000}`)
  const lines: string[] = []
  for (const [writers, count] of [
    [1, 300],
    [16, 3_000],
    [64, 6_000],
  ] as const) {
    const work = (store: Store) => write(store, writers, count, (index) => `/k/${index % 1_000}`)
    lines.push(
      `durable puts of 1 kB, ${writers} writers: ${compared(contenders, count, await compare(contenders, work))}`,
    )
  }
  return lines
}

async function fanOut(contenders: readonly Contender[]): Promise<string> {
  const watchers = 1_000
  const events = 50
  const outcomes = await compare(contenders, async (store) => {
    const stopped = new AbortController()
    const from = store.revision + 1
    const watch = async () => {
      let seen = 0
      for await (const batch of store.watch({ prefix: '/w/', from }, stopped.signal)) {
        seen += batch.events.length
        if (seen === events) return
      }
    }
    const watching = Array.from({ length: watchers }, watch)
    const startMs = performance.now()
    await write(store, 16, events, (index) => `/w/${index}`)
    await Promise.all(watching)
    stopped.abort()
    return (performance.now() - startMs) / 1000
  })
  return `watch: ${events} writes to ${watchers} watchers, deliveries: ${compared(contenders, watchers * events, outcomes)}`
}

async function rangeOf10000(contenders: readonly Contender[]): Promise<string> {
  for (const { store } of contenders) await write(store, 64, 10_000, (index) => `/r/${index}`)
  const best = contenders.map(() => Infinity)
  for (let round = 0; round < 5; round++)
    for (const [index, { store }] of contenders.entries()) {
      const began = performance.now()
      const { items } = await store.range({ start: '/r/', end: '/r0' }, signal)
      if (items.length !== 10_000) throw new Error(`${items.length} items`)
      best[index] = Math.min(best[index] ?? 0, performance.now() - began)
    }
  const figures = contenders.map(({ name }, index) => `${name} ${best[index]?.toFixed(1)} ms`)
  return `range of 10,000 keys of 1 kB: ${figures.join(', ')}, ratio ${((best[1] ?? 0) / (best[0] ?? 1)).toFixed(0)}`
}

/** SQLite and an etcd member with mutual TLS, with their data in the same directory. */
async function againstEtcd(folder: string): Promise<string[]> {
  await using cluster = await EtcdCluster.start(newestEtcd(), 1)
  const sqlite = await open(join(folder, 'compared.db'))
  const etcd = await cluster.openStore()
  const contenders = [
    { name: 'sqlite', store: sqlite },
    { name: `etcd ${newestEtcd().version}`, store: etcd },
  ]
  try {
    return [...(await puts(contenders)), await fanOut(contenders), await rangeOf10000(contenders)]
  } finally {
    await etcd.close()
    await sqlite.close()
  }
}

async function start(folder: string): Promise<string[]> {
  const lines: string[] = []
  for (const [what, key] of [
    ['objects', (index: number) => `/objects/${index}`],
    ['versions of 1,000 objects', (index: number) => `/k/${index % 1_000}`],
  ] as const) {
    const path = join(folder, `start-${lines.length}.db`)
    const store = await open(path)
    await write(store, 64, 100_000, key)
    if (what === 'objects') await store.compact(store.revision, signal)
    await store.close()
    const { stdout } = await promisify(execFile)(process.execPath, [...process.execArgv, startProgram, path])
    lines.push(`start with 100,000 ${what} of 1 kB (${megabytes(statSync(path).size)} MB): ${stdout.trim()}`)
  }
  return lines
}

async function churn(folder: string): Promise<string> {
  const updates = process.env['COXSWAIN_LONG'] === '1' ? 1_000_000 : 200_000
  const path = join(folder, 'churn.db')
  const store = await open(path)
  let largest = 0
  let done = 0
  for (; done < updates; done += 100_000) {
    await write(store, 64, 100_000, (index) => `/k/${index % 1_000}`)
    largest = Math.max(largest, fileBytes(path))
  }
  await store.compact(store.revision, signal)
  await store.close()
  return `file after ${done.toLocaleString('en')} updates of 1,000 keys of 1 kB: at most ${megabytes(largest)} MB with its history, ${megabytes(statSync(path).size)} MB compacted`
}

export const storeBench: Bench = {
  name: 'store',
  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-bench-'))
    try {
      return [...(await againstEtcd(folder)), ...(await start(folder)), await churn(folder)]
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}
