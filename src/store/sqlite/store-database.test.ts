// What the disk thread does with the file, without the thread: rows, compaction, free space, the lock.
import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { pack, unpack, type Change } from './packed-changes.ts'
import { StoreDatabase } from './store-database.ts'
import { StoreFull, StoreInUse, errorOf, failureOf } from './store-errors.ts'
import { loadFile } from './load-file.ts'
import { lockFile } from './file-lock.ts'
import { bytes, freshPath, text } from './sqlite-store.harness.ts'
import { createFile, pragma } from './file-format.ts'

const change = (revision: number, key: string, value?: string, lease?: number): Change => ({
  revision,
  ordinal: 0,
  key,
  value: value === undefined ? undefined : bytes(value),
  createRevision: revision,
  version: value === undefined ? 0 : 1,
  lease,
  atMs: 1_000 * revision,
})
const line = ({ revision, key, value, lease }: Change) =>
  `${revision} ${key} ${value === undefined ? 'gone' : `=${text(value)}`} ${lease ?? '-'}`

function write(path: string, changes: readonly Change[]): void {
  using database = new StoreDatabase({ path, fileBytesMax: 100_000_000, syncs: true })
  database.write({ kind: 'write', changes: pack(changes), leases: [] })
}

async function read(path: string): Promise<string[]> {
  const lines: string[] = []
  await loadFile(path, (piece) => void lines.push(...piece.map(line)))
  return lines
}

test('changes are packed into one buffer, whatever buffers their values belong to', () => {
  const pooled = Buffer.from('a value that lies in the middle of a larger buffer').subarray(2, 7)
  const changes = [change(2, '/a', ''), { ...change(3, '/b'), value: pooled }, change(4, '/a'), change(5, '/ü', 'ü', 7)]
  deepEqual([...unpack(structuredClone(pack(changes)))].map(line), [
    '2 /a = -',
    '3 /b =value -',
    '4 /a gone -',
    '5 /ü =ü 7',
  ])
})

test('lazy values of any length are packed as bytes', () => {
  const texts = ['', 'ü€𝄞'.repeat(300_000), 'a'.repeat(2_000_000), 'z']
  const changes = texts.map((content, index) => {
    const encoded = Buffer.from(content)
    const value = { text: content, bytes: encoded, bytesUpTo: () => encoded.length }
    return { ...change(index + 2, '/a'), value }
  })
  const back = [...unpack(structuredClone(pack(changes)))].map(({ value }) => Buffer.from(value ?? []).toString())
  deepEqual(back, texts)
})

test('rows are loaded in order, with leases and counters', async () => {
  const path = freshPath()
  createFile(path)
  const changes = Array.from({ length: 2_500 }, (_, i) => change(i + 2, `/k/${i % 10}`, String(i)))
  write(path, changes)
  deepEqual(await read(path), changes.map(line))
  const sizes: number[] = []
  deepEqual(await loadFile(path, (piece) => void sizes.push(piece.length)), { compacted: 1, leases: [], leaseLast: 0 })
  equal(sizes.length > 1 && sizes.every((size) => size > 0), true)
  equal(
    sizes.reduce((sum, size) => sum + size, 0),
    2_500,
  )
})

test('a compaction removes its rows and stores its revision', async () => {
  const path = freshPath()
  createFile(path)
  write(path, [change(2, '/a', '1'), change(3, '/a', '2'), change(4, '/b', '1'), change(5, '/b')])
  const database = new StoreDatabase({ path, fileBytesMax: 100_000_000, syncs: true })
  const keys = ['/a', '/b', '/b', '/not-there']
  database.compact({ kind: 'compact', revision: 5, revisions: new Float64Array([2, 4, 5, 3]), keys })
  database[Symbol.dispose]()
  deepEqual(await read(path), ['3 /a =2 -'])
  equal((await loadFile(path, () => {})).compacted, 5)
})

test('space is freed except for the pages that the next writes need', () => {
  const path = freshPath()
  createFile(path)
  const changes = Array.from({ length: 8_000 }, (_, i) => change(i + 2, '/k', 'x'.repeat(4_000)))
  write(path, changes)
  const database = new StoreDatabase({ path, fileBytesMax: 100_000_000, syncs: true })
  const revisions = Float64Array.from(changes, ({ revision }) => revision)
  database.compact({ kind: 'compact', revision: 9_000, revisions, keys: changes.map(({ key }) => key) })
  let rests = 1
  while (database.shrink()) rests++
  database[Symbol.dispose]()
  ok(rests > 1, 'in pieces')
  using reader = new DatabaseSync(path, { readOnly: true })
  const pages = pragma(reader, 'page_count')
  ok(pages > 500 && pages < 1_100, `${pages} pages`)
})

test('a write beyond the file size limit is rolled back and the file stays usable', async () => {
  const path = freshPath()
  createFile(path)
  using database = new StoreDatabase({ path, fileBytesMax: 200_000, syncs: true })
  const request = (changes: readonly Change[]) => ({ kind: 'write', changes: pack(changes), leases: [] }) as const
  database.write(request([change(2, '/a', '1')]))
  throws(
    () => database.write(request([change(3, '/b', '1'), change(4, '/big', 'x'.repeat(400_000))])),
    (error) => errorOf(failureOf('write', error)) instanceof StoreFull,
  )
  database.write(request([change(3, '/c', '1')]))
  deepEqual(await read(path), ['2 /a =1 -', '3 /c =1 -'])
})

test('the lock has one holder at a time', () => {
  const path = freshPath()
  const first = lockFile(path)
  throws(() => lockFile(path), StoreInUse)
  first[Symbol.dispose]()
  lockFile(path)[Symbol.dispose]()
})
