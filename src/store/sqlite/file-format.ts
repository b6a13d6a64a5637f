// The format of the file: its tables, its version, and the checksum of each row. Runs in the disk thread.
import { renameSync, rmSync, openSync, fsyncSync, closeSync, chmodSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { operationsMax } from '../store.ts'
import { StoreFormatUnknown } from './store-errors.ts'
import type { Change } from './packed-changes.ts'

/** Incremented with every change of the tables that an older program would misread. */
export const formatNumber = 2
/** 'COXS': identifies a Coxswain store. */
const applicationId = 0x434f5853

// A row is one change. Rows up to the compacted revision are the state at that revision; later rows are the history.
const tables = `
  CREATE TABLE changes (
    id INTEGER PRIMARY KEY,     -- revision * ${operationsMax} + ordinal
    key TEXT NOT NULL,
    value BLOB,                 -- NULL: the key was deleted
    create_revision INTEGER NOT NULL,
    lease INTEGER NOT NULL,     -- 0: none
    at_ms INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    version INTEGER NOT NULL    -- 0: the key was deleted
  ) STRICT;
  CREATE TABLE leases (
    id INTEGER PRIMARY KEY,
    expires_ms INTEGER NOT NULL,
    ttl_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
  INSERT INTO meta VALUES ('compacted', 1), ('lease_last', 0);
`

/**
 * Format 1 has neither the versions of keys nor the time to live of leases. It was written by clusters only, which do not
 * read versions and whose leases are not renewed.
 */
const upgradeFromFormat1 = `
  BEGIN IMMEDIATE;
  ALTER TABLE changes ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE leases ADD COLUMN ttl_ms INTEGER NOT NULL DEFAULT 3600000;
  PRAGMA user_version = ${formatNumber};
  COMMIT;
`

/** Brings a file, which has been verified, to the current format. */
export function upgradeFormat(database: DatabaseSync): void {
  if (pragma(database, 'user_version') < formatNumber) database.exec(upgradeFromFormat1)
}

/** Creates a file atomically: afterwards the path is a complete store, or does not exist. */
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

/** Removes the temporary files of an interrupted creation. */
export function removeTemporaryFiles(path: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(`${temporaryPath(path)}${suffix}`, { force: true })
}

/** Renames a complete file to its path, durably; only its owner can read it. */
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

/** Throws unless the file is a store whose format this program reads. */
export function checkFormat(database: DatabaseSync, path: string): void {
  if (pragma(database, 'application_id') !== applicationId)
    throw new StoreFormatUnknown(`open ${path}: the file is not a Coxswain store`)
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

/** Detects changed bytes within a value, which SQLite does not. */
export function checksumOf({ revision, ordinal, key, value, createRevision, version, lease, atMs }: Change): number {
  // The first version is left out, as in rows of format 1.
  const versionText = version > 1 ? ` v${version}` : ''
  const head = `${revision} ${ordinal} ${createRevision} ${lease ?? 0} ${atMs}${versionText} ${value === undefined ? '-' : '+'} ${key}`
  return crc32(value ?? '', crc32(head))
}
