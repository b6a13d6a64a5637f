// Runs registerLoad on a store on disk in a separate process until it is done or killed: `register-writer.ts <path>
// <run>`.
import { realClock } from '../../src/base/time/clock.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { nodeWorkers } from '../../src/platform/node/process/workers.ts'
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { registerLoad } from './register-load.ts'
import { printLine } from './print-line.ts'

const [, , path = '', run = ''] = process.argv
const store = await SqliteStore.open({ path, clock: realClock, workers: nodeWorkers }, new AbortController().signal)
await registerLoad({
  store,
  random: seededRandom(Number(run)),
  run,
  operationsPerClient: 100_000,
  say: printLine,
})
