// A process whose writers print `ack <number>` for every write that the store acknowledged, and `fail <number> <error>`
// for the one after which a writer stopped. durability.test.ts traces it; disk-failure.test.ts injects disk errors.
import { realClock } from '../../src/base/time/clock.ts'
import { nodeWorkers } from '../../src/platform/node/process/workers.ts'
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { printLine } from './print-line.ts'

const writers = 8
const [, , path = '', count = ''] = process.argv
const { signal } = new AbortController()
const store = await SqliteStore.open({ path, clock: realClock, workers: nodeWorkers }, signal)

let next = 0
async function write(): Promise<void> {
  for (let number = next++; number < Number(count); number = next++) {
    const value = new TextEncoder().encode(`marker-${number}-`)
    try {
      await store.commit({ conditions: [], operations: [{ kind: 'put', key: `/k/${number}`, value }] }, signal)
    } catch (error) {
      return printLine(`fail ${number} ${(error as Error).name}`)
    }
    printLine(`ack ${number}`)
  }
}

await Promise.all(Array.from({ length: writers }, write))
await store.close()
