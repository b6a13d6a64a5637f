// StoreDatabase: the file, open for writing, in the disk thread. Each write is one transaction, and its log is synced
// when the call returns.
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { operationsMax } from '../store.ts'
import { unpack, type Change } from './packed-changes.ts'
import type { CompactRequest, DiskOptions, ImportRequest, WriteRequest } from './disk-protocol.ts'
import { pragma, rowId, checksumOf, upgradeFormat } from './file-format.ts'

/**
 * A longer log is checkpointed even under load, which delays writers by about 15 ms; a shorter one when the store is
 * idle.
 */
const walBytesMax = 8 * 1024 * 1024
const pageBytes = 4096
/** An estimate of the pages that a commit writes in addition to its own bytes. */
const pagesPerCommit = 3
/** As many free pages are kept for the next writes. */
const freePagesKept = 1024
/** The pages that one vacuum frees at most, because writers wait for it. */
const vacuumPagesMax = 1024

export class StoreDatabase implements Disposable {
  readonly #database: DatabaseSync
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #insert: StatementSync
  readonly #lastOf: StatementSync
  readonly #delete: StatementSync
  readonly #grant: StatementSync
  readonly #endLease: StatementSync
  readonly #setMeta: StatementSync
  readonly #raiseLast: StatementSync
  #walBytes = 0

  constructor({ path, fileBytesMax, syncs }: DiskOptions) {
    const database = new DatabaseSync(path, { timeout: 0 })
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = ${syncs ? 'FULL' : 'OFF'};
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA max_page_count = ${Math.floor(fileBytesMax / pageBytes)};
    `)
    upgradeFormat(database)
    this.#database = database
    this.#begin = database.prepare('BEGIN IMMEDIATE')
    this.#commit = database.prepare('COMMIT')
    this.#insert = database.prepare('INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
    this.#lastOf = database.prepare('SELECT max(id) AS id FROM changes WHERE id BETWEEN ? AND ?')
    this.#delete = database.prepare('DELETE FROM changes WHERE id BETWEEN ? AND ? AND key = ?')
    this.#grant = database.prepare('INSERT OR REPLACE INTO leases VALUES (?, ?, ?)')
    this.#endLease = database.prepare('DELETE FROM leases WHERE id = ?')
    this.#setMeta = database.prepare('UPDATE meta SET value = ? WHERE name = ?')
    this.#raiseLast = database.prepare("UPDATE meta SET value = max(value, ?) WHERE name = 'lease_last'")
  }

  write({ changes, leases }: WriteRequest): void {
    this.#transact(changes.bytes.length, () => {
      for (const change of unpack(changes)) this.#add(change)
      for (const change of leases)
        if (change.kind === 'ended') this.#endLease.run(change.id)
        else {
          const { id, expiresMs, ttlMs } = change.lease
          this.#grant.run(id, expiresMs, ttlMs)
          this.#raiseLast.run(id)
        }
    })
  }

  import({ changes }: ImportRequest): void {
    this.#transact(changes.bytes.length, () => {
      for (const change of unpack(changes)) this.#add({ ...change, ordinal: this.#nextOrdinal(change.revision) })
    })
  }

  compact({ revision, revisions, keys }: CompactRequest): void {
    this.#transact(keys.length * pageBytes, () => {
      for (const [index, key] of keys.entries()) {
        const first = rowId(revisions[index] ?? 0, 0)
        this.#delete.run(first, first + operationsMax - 1, key)
      }
      this.#setMeta.run(revision, 'compacted')
      this.#vacuum()
    })
  }

  /** Checkpoints the log when it is large; called between writes. */
  checkpointIfLarge(): void {
    if (this.#walBytes < walBytesMax) return
    this.#checkpoint('PASSIVE')
  }

  /** Frees space and empties the log; returns whether more space can be freed. */
  shrink(): boolean {
    this.#transact(0, () => this.#vacuum())
    const more = this.#surplusPages() > 0
    if (!more) this.#checkpoint('TRUNCATE')
    return more
  }

  [Symbol.dispose](): void {
    this.#database.close()
  }

  #add(change: Change): void {
    const { revision, ordinal, key, value, createRevision, version, lease, atMs } = change
    const id = rowId(revision, ordinal)
    this.#insert.run(id, key, value ?? null, createRevision, lease ?? 0, atMs, checksumOf(change), version)
  }

  #nextOrdinal(revision: number): number {
    const first = rowId(revision, 0)
    const last = this.#lastOf.get(first, first + operationsMax - 1)?.['id']
    if (typeof last !== 'number') return 0
    if (last === first + operationsMax - 1)
      throw new Error(`revision ${revision} has more than ${operationsMax} keys, the limit of a transaction`)
    return last - first + 1
  }

  #transact(bytes: number, work: () => void): void {
    try {
      this.#begin.run()
      work()
      this.#commit.run()
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
    this.#walBytes += bytes + pagesPerCommit * pageBytes
  }

  #vacuum(): void {
    const pages = Math.min(this.#surplusPages(), vacuumPagesMax)
    if (pages > 0) this.#database.exec(`PRAGMA incremental_vacuum(${pages})`)
  }

  #surplusPages(): number {
    return pragma(this.#database, 'freelist_count') - freePagesKept
  }

  // A reader, such as a snapshot, may keep part of the log in use; the next checkpoint does the rest.
  #checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): void {
    this.#database.exec(`PRAGMA wal_checkpoint(${mode})`)
    this.#walBytes = 0
  }
}
