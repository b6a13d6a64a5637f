// A process that holds a store open until it is killed; rejected-files.test.ts starts it.
import { realClock } from '../../base/time/clock.ts'
import { nodeWorkers } from '../../platform/node/process/workers.ts'
import { SqliteStore } from './sqlite-store.ts'

const { signal } = new AbortController()
const store = await SqliteStore.open({ path: process.argv[2] ?? '', clock: realClock, workers: nodeWorkers }, signal)
const value = new TextEncoder().encode('yes')
await store.commit({ conditions: [], operations: [{ kind: 'put', key: '/held', value }] }, signal)
process.stdout.write('held\n')
