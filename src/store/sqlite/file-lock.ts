// The lock of a store's file: an empty SQLite file beside it, locked exclusively. The kernel releases it when the
// process ends, however it ends.
import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { failureOf, StoreInUse } from './store-errors.ts'

/** Holds the lock until disposed; throws StoreInUse when another process holds it. */
export function lockFile(path: string): Disposable {
  const database = new DatabaseSync(`${realPath(path)}-lock`, { timeout: 0 })
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (failureOf('', error).kind !== 'in use') throw error
    throw new StoreInUse(`open ${path}: the store is in use by another process`)
  }
  return { [Symbol.dispose]: () => database.close() }
}

// Two paths to the same directory must use the same lock.
const realPath = (path: string): string => join(realpathSync(dirname(path)), basename(path))
