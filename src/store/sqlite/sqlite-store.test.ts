// The SQLite driver passes the contract.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { nodeWorkers } from '../../platform/node/process/workers.ts'
import { storeContract } from '../contract.suite.ts'
import { localStoreContract } from '../local-store.suite.ts'
import { SqliteStore } from './sqlite-store.ts'

const { signal } = new AbortController()
const directory = await mkdtemp(join(tmpdir(), 'coxswain-sqlite-'))
after(() => rm(directory, { recursive: true }))

let count = 0
async function open() {
  const clock = new VirtualClock()
  const path = join(directory, `${++count}.db`)
  return {
    store: await SqliteStore.open({ path, clock, workers: nodeWorkers }, signal),
    pass: (ms: number) => clock.advance(ms),
    leaseMs: 1_000,
  }
}
storeContract('sqlite', open)
localStoreContract('sqlite', open)
