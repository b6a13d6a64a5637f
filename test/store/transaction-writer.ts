// A process that commits transactions of several changes and prints `ack <revision> <keys>` for each acknowledged one:
// `transaction-writer.ts <path> <count> <run>`. A key contains the number of changes of its transaction.
import { realClock } from '../../src/base/time/clock.ts'
import { nodeWorkers } from '../../src/platform/node/process/workers.ts'
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { printLine } from './print-line.ts'

const writers = 8
/** Large enough that the log exceeds the size at which it is checkpointed. */
const valueBytes = 3_000
const changesMax = 5
const compactEvery = 100
const revisionsKept = 50

const [, , path = '', count = '', run = ''] = process.argv
const { signal } = new AbortController()
const store = await SqliteStore.open({ path, clock: realClock, workers: nodeWorkers }, signal)

let next = 0
async function write(writer: number): Promise<void> {
  for (let number = next++; number < Number(count); number = next++) {
    const changes = 1 + (number % changesMax)
    const keys = Array.from({ length: changes }, (_, index) => `/w/${changes}/${writer}.${index}`)
    const value = new TextEncoder().encode(`${run}.${number} ${'x'.repeat((number * 37) % valueBytes)}`)
    const operations = keys.map((key) => ({ kind: 'put', key, value }) as const)
    const { revision } = await store.commit({ conditions: [], operations }, signal)
    printLine(`ack ${revision} ${keys.join()}`)
    if (revision % compactEvery === 0) await store.compact(Math.max(1, revision - revisionsKept), signal)
  }
}

await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
await store.close()
