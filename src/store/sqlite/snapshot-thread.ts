// The thread that takes or restores a snapshot. Files get their name only when they are complete.
import { resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { present } from '../../base/assert.ts'
import { operationsMax } from '../store.ts'
import { failureOf, StoreInUse } from './store-errors.ts'
import { hasFile, loadFile } from './load-file.ts'
import { lockFile } from './file-lock.ts'
import { temporaryPath, checkFormat, removeTemporaryFiles, publishFile } from './file-format.ts'
import type { SnapshotJob, SnapshotReply } from './sqlite-snapshot.ts'

const port = present(parentPort, 'the snapshot thread must be started as a worker')
const job = workerData as SnapshotJob

function copy(from: string, to: string): void {
  using database = new DatabaseSync(from, { readOnly: true })
  checkFormat(database, from)
  removeTemporaryFiles(to)
  database.prepare('VACUUM INTO ?').run(temporaryPath(to))
}

// Keeps only the current state: the revision jumps ahead, so the history before it would have a gap.
function moveAhead(path: string, revisionsAhead: number): void {
  using database = new DatabaseSync(path)
  database.exec(`
    BEGIN;
    UPDATE meta SET value = ${revisionsAhead} + max(value, coalesce((SELECT max(id) / ${operationsMax} FROM changes), 0))
      WHERE name = 'compacted';
    DELETE FROM changes WHERE value IS NULL OR id NOT IN (SELECT max(id) FROM changes GROUP BY key);
    COMMIT;
    PRAGMA journal_mode = WAL;
  `)
}

async function work(): Promise<void> {
  const { from, to } = job
  if (job.kind === 'take') {
    if (resolve(from) === resolve(to)) throw new StoreInUse(`take snapshot ${to}: it is the store itself`)
    copy(from, to)
    return publishFile(temporaryPath(to), to)
  }
  using _lock = lockFile(to)
  if (hasFile(to)) throw new StoreInUse(`restore ${from} to ${to}: the store exists; move it away first`)
  await loadFile(from, () => {})
  copy(from, to)
  moveAhead(temporaryPath(to), job.revisionsAhead)
  publishFile(temporaryPath(to), to)
}

let reply: SnapshotReply
try {
  await work()
  reply = { kind: 'done' }
} catch (error) {
  reply = { kind: 'failed', failure: failureOf(`${job.kind} snapshot ${job.to} of ${job.from}`, error) }
}
port.postMessage(reply)
