// The file's format: its tables, its number, and the sum that guards each row. Runs in the disk thread.
import { renameSync, rmSync, openSync, fsyncSync, closeSync, chmodSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { operationsMax } from '../store.ts'
import { StoreFormatUnknown } from './store-errors.ts'
import type { Change } from './packed-changes.ts'

/** Grows with every change of the tables that an older program would misread. */
export const formatNumber = 1
/** 'COXS': says that the file is a store of ours. */
const applicationId = 0x434f5853

// A row is one change. Rows up to the compacted revision are the state there; later rows are the history.
const tables = `
  CREATE TABLE changes (
    id INTEGER PRIMARY KEY,     -- revision * ${operationsMax} + ordinal
    key TEXT NOT NULL,
    value BLOB,                 -- NULL: the key was deleted
    create_revision INTEGER NOT NULL,
    lease INTEGER NOT NULL,     -- 0: none
    at_ms INTEGER NOT NULL,
    sum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE leases (id INTEGER PRIMARY KEY, expires_ms INTEGER NOT NULL) STRICT;
  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
  INSERT INTO meta VALUES ('compacted', 1), ('lease_last', 0);
`

/** Makes a new file in one step: either the path is a whole store afterwards, or it is not there. */
export function createFile(path: string): void {
  const temporary = temporaryPath(path)
  removeTemporaryFiles(path)
  const database = new DatabaseSync(temporary)
  database.exec(`
    PRAGMA auto_vacuum = INCREMENTAL;
    PRAGMA synchronous = FULL;
    BEGIN;
    PRAGMA application_id = ${applicationId};
    PRAGMA user_version = ${formatNumber};
    ${tables}
    COMMIT;
    PRAGMA journal_mode = WAL;
  `)
  database.close()
  publishFile(temporary, path)
}

export const temporaryPath = (path: string): string => `${path}-new`

/** Removes what a crash in the middle of building a file left behind. */
export function removeTemporaryFiles(path: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(`${temporaryPath(path)}${suffix}`, { force: true })
}

/** Gives a complete file its name, durably; it is readable by its owner only. */
export function publishFile(temporary: string, path: string): void {
  chmodSync(temporary, 0o600)
  syncPath(temporary)
  renameSync(temporary, path)
  syncPath(dirname(path))
}

function syncPath(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Throws unless the file is a store of a format that this program reads. */
export function checkFormat(database: DatabaseSync, path: string): void {
  if (pragma(database, 'application_id') !== applicationId)
    throw new StoreFormatUnknown(`open ${path}: the file is not a store of coxswain`)
  const format = pragma(database, 'user_version')
  if (format > formatNumber)
    throw new StoreFormatUnknown(
      `open ${path}: the file has format ${format}, this program reads formats up to ${formatNumber}; use a newer coxswain`,
    )
}

export function pragma(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0])
}

export function metaOf(database: DatabaseSync, name: string): number {
  return Number(database.prepare('SELECT value FROM meta WHERE name = ?').get(name)?.['value'])
}

export const rowId = (revision: number, ordinal: number): number => revision * operationsMax + ordinal

/** SQLite does not notice a changed byte within a value: this does. */
export function checksumOf({ revision, ordinal, key, value, createRevision, lease, atMs }: Change): number {
  const head = `${revision} ${ordinal} ${createRevision} ${lease ?? 0} ${atMs} ${value === undefined ? '-' : '+'} ${key}`
  return crc32(value ?? '', crc32(head))
}
