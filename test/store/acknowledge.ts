// A process whose writers say `ack <number>` for every write that the store acknowledged; durability.test.ts traces it.
import { writeSync } from 'node:fs'
import { realClock } from '../../src/base/clock.ts'
import { nodeWorkers } from '../../src/platform/node/workers.ts'
import { SqliteStore } from '../../src/store/sqlite/store.ts'

const writers = 8
const [, , path = '', count = ''] = process.argv
const { signal } = new AbortController()
const store = await SqliteStore.open({ path, clock: realClock, workers: nodeWorkers }, signal)

let next = 0
async function write(): Promise<void> {
  for (let number = next++; number < Number(count); number = next++) {
    const value = new TextEncoder().encode(`marker-${number}-`)
    await store.commit({ conditions: [], operations: [{ kind: 'put', key: `/k/${number}`, value }] }, signal)
    writeSync(1, `ack ${number}\n`)
  }
}

await Promise.all(Array.from({ length: writers }, write))
await store.close()
