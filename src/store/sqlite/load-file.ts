// Loads a store's file: it is verified completely through a read-only connection before anything is changed.
import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { operationsMax, type LeaseId } from '../store.ts'
import type { Lease } from '../lease-table.ts'
import type { Change } from './packed-changes.ts'
import { StoreCorrupt } from './store-errors.ts'
import { checkFormat, metaOf, checksumOf, pragma } from './file-format.ts'

/** The content of a file apart from its changes. */
export interface LoadedFile {
  readonly compacted: number
  readonly leases: readonly Lease[]
  readonly leaseLast: number
}

/** The size of one message to the store's thread, which shares its event loop and processes two in a turn. */
const rowsPerPieceMax = 250
const bytesPerPieceMax = 256 * 1024

export const hasFile = (path: string): boolean => existsSync(path) && statSync(path).size > 0

/** Passes the changes of the file to `take` in pieces, in the order of revisions, each after the previous was taken. */
export async function loadFile(
  path: string,
  take: (piece: Change[], compacted: number) => Promise<void> | void,
): Promise<LoadedFile> {
  using database = new DatabaseSync(path, { readOnly: true })
  checkFormat(database, path)
  checkPages(database, path)
  const compacted = metaOf(database, 'compacted')
  for (const piece of piecesOf(verified(readChanges(database), compacted, path))) await take(piece, compacted)
  const leases = database
    .prepare(`SELECT id, expires_ms, ${isFormat1(database) ? '3600000 AS ttl_ms' : 'ttl_ms'} FROM leases ORDER BY id`)
    .all()
    .map((row) => ({
      id: Number(row['id']) as LeaseId,
      expiresMs: Number(row['expires_ms']),
      ttlMs: Number(row['ttl_ms']),
    }))
  return { compacted, leases, leaseLast: metaOf(database, 'lease_last') }
}

/** The revision of a store, without its content. */
export function fileRevision(path: string): number {
  using database = new DatabaseSync(path, { readOnly: true })
  checkFormat(database, path)
  const last = Number(database.prepare('SELECT max(id) AS id FROM changes').get()?.['id'] ?? 0)
  return Math.max(metaOf(database, 'compacted'), Math.floor(last / operationsMax))
}

function checkPages(database: DatabaseSync, path: string): void {
  const found = Object.values(database.prepare('PRAGMA quick_check(1)').get() ?? {})[0]
  if (found !== 'ok') throw new StoreCorrupt(`open ${path}: the file is damaged: ${found}`)
}

/** Files are upgraded after they have been verified. */
const isFormat1 = (database: DatabaseSync): boolean => pragma(database, 'user_version') === 1

interface Row extends Change {
  readonly sum: number
}

function* readChanges(database: DatabaseSync): Generator<Row> {
  const statement = database.prepare(
    `SELECT id, key, value, create_revision, lease, at_ms, sum, ${isFormat1(database) ? '1' : 'version'} FROM changes
     ORDER BY id`,
  )
  statement.setReturnArrays(true)
  type Columns = [number, string, Uint8Array | null, number, number, number, number, number]
  for (const row of statement.iterate() as Iterable<unknown>) {
    const [id, key, value, createRevision, lease, atMs, sum, version] = row as Columns
    yield {
      revision: Math.floor(id / operationsMax),
      ordinal: id % operationsMax,
      key,
      value: value ?? undefined,
      createRevision,
      version,
      lease: lease || undefined,
      atMs,
      sum,
    }
  }
}

// Checksums detect a changed byte; consecutive revisions detect a missing row.
function* verified(rows: Iterable<Row>, compacted: number, path: string): Generator<Change> {
  let last = compacted
  for (const row of rows) {
    if (checksumOf(row) !== row.sum)
      throw new StoreCorrupt(`open ${path}: the file is damaged: ${row.key} at revision ${row.revision} has changed`)
    if (row.revision > last + 1)
      throw new StoreCorrupt(`open ${path}: the file is damaged: revision ${last + 1} is missing`)
    last = Math.max(last, row.revision)
    yield row
  }
}

function* piecesOf(changes: Iterable<Change>): Generator<Change[]> {
  let piece: Change[] = []
  let bytes = 0
  for (const change of changes) {
    piece.push(change)
    bytes += change.value?.length ?? 0
    if (piece.length < rowsPerPieceMax && bytes < bytesPerPieceMax) continue
    yield piece
    ;[piece, bytes] = [[], 0]
  }
  if (piece.length > 0) yield piece
}
