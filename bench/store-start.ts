// Starts the SQLite store in a separate process, as a real start does: `store-start.ts <path>` prints the time that it
// took.
import { realClock } from '../src/base/time/clock.ts'
import { nodeWorkers } from '../src/platform/node/process/workers.ts'
import { SqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import { holdOf } from './event-loop.ts'

const hold = holdOf()
const began = performance.now()
const { signal } = new AbortController()
const store = await SqliteStore.open({ path: process.argv[2] ?? '', clock: realClock, workers: nodeWorkers }, signal)
console.log(`${(performance.now() - began).toFixed(0)} ms; event loop held at most ${hold().toFixed(1)} ms`)
await store.close()
