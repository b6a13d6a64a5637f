// Files that cannot be opened are rejected with a clear error and left unchanged.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { StoreInUse } from './store-errors.ts'
import { contentOf, freshPath, openAt, put } from './sqlite-store.harness.ts'
import { formatNumber } from './file-format.ts'

// Reading a file without a log creates an empty log beside it, which is not a change.
const contentOfFile = (path: string) => (existsSync(path) ? readFileSync(path) : new Uint8Array())
const digest = (path: string) => createHash('sha256').update(contentOfFile(path)).digest('hex')
const digests = (path: string) => [digest(path), digest(`${path}-wal`)]

/** A store as a kill leaves it: partly in the file, partly in the log. */
async function killedStore(): Promise<string> {
  const path = freshPath()
  const store = await openAt(path)
  for (let i = 0; i < 300; i++) await put(store, `/key/${i}`, `value ${i} `.repeat(20))
  await store.close()
  const reopened = await openAt(path)
  for (let i = 0; i < 50; i++) await put(reopened, `/key/${i}`, 'changed')
  const copy = copyOf(path)
  await reopened.close()
  return copy
}

function copyOf(path: string): string {
  const copy = freshPath()
  for (const suffix of ['', '-wal']) copyFileSync(`${path}${suffix}`, `${copy}${suffix}`)
  return copy
}

/** A killed store that another program has changed; the change is in its log. */
async function tamperedStore(sql: string): Promise<string> {
  const path = await killedStore()
  const database = new DatabaseSync(path)
  database.exec(sql)
  const copy = copyOf(path)
  database.close()
  return copy
}

async function isRejectedUnchanged(path: string, error: string, message: RegExp): Promise<void> {
  const before = digests(path)
  await rejects(openAt(path), (thrown: Error) => {
    equal(thrown.name, error, String(thrown.stack))
    match(thrown.message, message)
    return true
  })
  deepEqual(digests(path), before)
}

function overwrite(path: string, at: number, content: Uint8Array | string): void {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.from(content), 0, Buffer.byteLength(content), at)
  closeSync(file)
}

test('the files of a killed store can be opened', async () => {
  const store = await openAt(await killedStore())
  equal((await contentOf(store)).filter((line) => line.includes('=changed')).length, 50)
  await store.close()
})

test('a file that is not a database', async () => {
  const path = freshPath()
  writeFileSync(path, 'not a database'.repeat(400))
  await isRejectedUnchanged(path, 'StoreCorrupt', /not a database/)
})

test('a database that is not a store', async () => {
  const path = freshPath()
  const other = new DatabaseSync(path)
  other.exec('CREATE TABLE accounts (name TEXT)')
  other.close()
  await isRejectedUnchanged(path, 'StoreFormatUnknown', /not a Coxswain store/)
})

test('a store of a newer format, with a log', async () => {
  const path = await tamperedStore(`PRAGMA user_version = ${formatNumber + 1}`)
  await isRejectedUnchanged(path, 'StoreFormatUnknown', /format 3, this program reads formats up to 2/)
})

test('a changed byte in a value', async () => {
  const path = await killedStore()
  const at = readFileSync(path).indexOf('value 200 value 200')
  overwrite(path, at, 'vaLue')
  await isRejectedUnchanged(path, 'StoreCorrupt', /damaged: \/key\/200 at revision 202 has changed/)
})

test('an overwritten page', async () => {
  const path = await killedStore()
  const pages = Math.floor(statSync(path).size / 4096)
  overwrite(path, Math.floor(pages / 2) * 4096, new Uint8Array(4096).fill(0xa5))
  await isRejectedUnchanged(path, 'StoreCorrupt', /damaged|malformed/)
})

test('a truncated file', async () => {
  const path = await killedStore()
  writeFileSync(path, readFileSync(path).subarray(0, 4096 * 5))
  await isRejectedUnchanged(path, 'StoreCorrupt', /damaged|malformed/)
})

test('a missing row', async () => {
  const path = await tamperedStore(
    'DELETE FROM changes WHERE id = (SELECT id FROM changes ORDER BY id LIMIT 1 OFFSET 100)',
  )
  await isRejectedUnchanged(path, 'StoreCorrupt', /damaged: revision 102 is missing/)
})

test('a second store of the same process', async () => {
  const path = freshPath()
  const store = await openAt(path)
  await rejects(openAt(path), StoreInUse)
  await put(store, '/a', 'still works')
  await store.close()
  await (await openAt(path)).close()
})

test('a second process, until the first is killed', async () => {
  const path = freshPath()
  const holder = spawn(process.execPath, [fileURLToPath(new URL('./lock-holder.harness.ts', import.meta.url)), path])
  await once(holder.stdout, 'data')
  await rejects(openAt(path), (error: Error) => {
    equal(error.constructor, StoreInUse)
    match(error.message, /in use by another process/)
    return true
  })
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  const store = await openAt(path)
  deepEqual(await contentOf(store), ['/held=yes 2 2'])
  await store.close()
})
