// What the sqlite store does on this machine's disk, every write durable: writes, ranges, watches, start, file size.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realClock } from '../src/base/clock.ts'
import { nodeWorkers } from '../src/platform/node/workers.ts'
import { SqliteStore } from '../src/store/sqlite/store.ts'
import type { Bench } from './bench.ts'

const { signal } = new AbortController()
const value = new Uint8Array(1_000).fill(0x61)
const megabytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(1)

const open = (path: string) => SqliteStore.open({ path, clock: realClock, workers: nodeWorkers }, signal)
const put = (store: SqliteStore, key: string) =>
  store.commit({ conditions: [], operations: [{ kind: 'put', key, value }] }, signal)
const fileBytes = (path: string) => statSync(path).size + statSync(`${path}-wal`).size

/** Writes `count` values with this many writers; returns the seconds that it took. */
async function write(
  store: SqliteStore,
  writers: number,
  count: number,
  key: (index: number) => string,
): Promise<number> {
  let next = 0
  const start = performance.now()
  const writer = async () => {
    while (next < count) await put(store, key(next++))
  }
  await Promise.all(Array.from({ length: writers }, writer))
  return (performance.now() - start) / 1000
}

async function puts(folder: string): Promise<string[]> {
  const store = await open(join(folder, 'puts.db'))
  await write(store, 64, 5_000, (index) => `/warm/${index % 1_000}`)
  const lines: string[] = []
  for (const [writers, count] of [
    [1, 3_000],
    [16, 30_000],
    [64, 60_000],
  ] as const) {
    const seconds = await write(store, writers, count, (index) => `/k/${index % 1_000}`)
    lines.push(`durable puts of 1 kB, ${writers} writers: ${(count / seconds).toFixed(0)}/s`)
  }
  await store.close()
  return lines
}

async function fanOut(folder: string): Promise<string> {
  const [watchers, events] = [1_000, 200]
  const store = await open(join(folder, 'watch.db'))
  const from = store.revision + 1
  const watch = async () => {
    let seen = 0
    for await (const batch of store.watch({ prefix: '/w/', from }, signal)) {
      seen += batch.events.length
      if (seen === events) return
    }
  }
  const watching = Array.from({ length: watchers }, watch)
  const start = performance.now()
  await write(store, 16, events, (index) => `/w/${index}`)
  await Promise.all(watching)
  const seconds = (performance.now() - start) / 1000
  await store.close()
  return `watch: ${events} writes to ${watchers} watchers: ${((watchers * events) / seconds).toFixed(0)} deliveries/s`
}

async function rangeAndStart(folder: string): Promise<string[]> {
  const path = join(folder, 'start.db')
  let store = await open(path)
  await write(store, 64, 100_000, (index) => `/objects/${index}`)
  await store.compact(store.revision, signal)
  await store.close()
  const bytes = statSync(path).size
  const start = performance.now()
  store = await open(path)
  const openMs = performance.now() - start
  let best = Infinity
  for (let round = 0; round < 20; round++) {
    const began = performance.now()
    const { items } = await store.range({ start: '/objects/', end: '/objects0', limit: 10_000 }, signal)
    if (items.length !== 10_000) throw new Error(`${items.length} items`)
    best = Math.min(best, performance.now() - began)
  }
  await store.close()
  return [
    `start with 100,000 objects of 1 kB (${megabytes(bytes)} MB): ${openMs.toFixed(0)} ms`,
    `range of 10,000 keys of 100,000: ${best.toFixed(2)} ms`,
  ]
}

async function churn(folder: string): Promise<string> {
  const updates = 1_000_000
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
      return [...(await puts(folder)), await fanOut(folder), ...(await rangeAndStart(folder)), await churn(folder)]
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}
