// A store on a disk that fills up: `full-disk.ts <directory>`, where the directory is a small file system. Checks the
// store while the disk is full and after space was freed; disk-failure.test.ts starts it.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { nodeWorkers } from '../../src/platform/node/process/workers.ts'
import { StoreBroken, StoreFull } from '../../src/store/sqlite/store-errors.ts'
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { StoreUnavailable } from '../../src/store/store.ts'

const [, , directory = ''] = process.argv
const ballast = join(directory, 'ballast')
const path = join(directory, 'store.db')
const { signal } = new AbortController()
const open = () => SqliteStore.open({ path, clock: realClock, workers: nodeWorkers }, signal)
const acknowledged: string[] = []

async function put(store: SqliteStore, key: string): Promise<void> {
  const value = new TextEncoder().encode(`${key} ${'x'.repeat(20_000)}`)
  await store.commit({ conditions: [], operations: [{ kind: 'put', key, value }] }, signal)
  acknowledged.push(key)
}

async function holdsAll(store: SqliteStore): Promise<void> {
  const { items } = await store.range({ start: '', end: '' }, signal)
  deepEqual(
    items.map(({ key }) => key),
    acknowledged.toSorted(),
  )
  for (const { key, value } of items) ok(new TextDecoder().decode(value).startsWith(`${key} x`), key)
}

// As much again as the store will use: checkpointing its log needs that.
writeFileSync(ballast, new Uint8Array(7_000_000))
let store = await open()
const refusal = await (async () => {
  for (let i = 0; ; i++)
    try {
      await Promise.all(Array.from({ length: 4 }, (_, k) => put(store, `/k/${String(i * 4 + k).padStart(4, '0')}`)))
    } catch (error) {
      return error
    }
})()
ok(refusal instanceof StoreFull || refusal instanceof StoreBroken, String(refusal))
ok(acknowledged.length > 20, `only ${acknowledged.length} writes found space`)
await holdsAll(store)
await rejects(put(store, '/large'), StoreUnavailable)
await holdsAll(store)

rmSync(ballast)
if (refusal instanceof StoreFull) await put(store, '/freed')
await store.close()
store = await open()
await holdsAll(store)
await put(store, '/again')
await store.close()
store = await open()
await holdsAll(store)
equal((await store.get('/again', signal))?.key, '/again')
await store.close()
process.stdout.write(`${refusal.name} after ${acknowledged.length} writes\n`)
