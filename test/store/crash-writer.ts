// A process that writes as fast as possible with many writers and prints what was acknowledged, until it is killed.
// Each transaction writes a key and a second key with the same value. crash.test.ts starts it: `crash-writer.ts <path>
// <run>`; lines are `open <revision>` and `ack <key> <number> <revision>`.
import { realClock } from '../../src/base/time/clock.ts'
import { nodeWorkers } from '../../src/platform/node/process/workers.ts'
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { printLine } from './print-line.ts'

const writers = 16
/** How often the history is compacted, and how much remains: more than a run writes. */
const compactEvery = 150
const revisionsKept = 3_000

const [, , path = '', run = ''] = process.argv
const { signal } = new AbortController()

const store = await SqliteStore.open({ path, clock: realClock, workers: nodeWorkers }, signal)
printLine(`open ${store.revision}`)

async function write(key: string): Promise<never> {
  for (let number = 1; ; number++) {
    const value = new TextEncoder().encode(`${run}.${number} ${'x'.repeat((number * 37) % 2_000)}`)
    const operations = [key, `${key}/twin`].map((each) => ({ kind: 'put', key: each, value }) as const)
    const result = await store.commit({ conditions: [], operations }, signal)
    printLine(`ack ${key} ${number} ${result.revision}`)
    if (result.revision % compactEvery === 0) await store.compact(Math.max(1, result.revision - revisionsKept), signal)
  }
}

await Promise.all(Array.from({ length: writers }, (_, i) => write(`/writer/${i}`)))
