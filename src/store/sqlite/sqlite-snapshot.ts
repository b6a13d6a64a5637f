// Snapshots: a consistent copy of a running store in one file, and a new store from such a file. Both run in a separate
// thread, so writers of a running store do not wait.
import { threadModule } from '../../platform/process/own-files.ts'
import type { Workers } from '../../platform/process/workers.ts'
import { errorOf, StoreBroken, type Failure } from './store-errors.ts'

export type SnapshotJob =
  | { readonly kind: 'take'; readonly from: string; readonly to: string }
  | { readonly kind: 'restore'; readonly from: string; readonly to: string; readonly revisionsAhead: number }

export type SnapshotReply = { readonly kind: 'done' } | { readonly kind: 'failed'; readonly failure: Failure }

/** More revisions than clients can have seen since the snapshot was taken, so that theirs are in the past. */
const revisionsAheadDefault = 1_000_000

/** Replaces the file `to` with a copy of the store `from`, atomically. */
export const takeSnapshot = (workers: Workers, from: string, to: string, signal: AbortSignal): Promise<void> =>
  run(workers, { kind: 'take', from, to }, signal)

export interface RestoreOptions {
  readonly from: string
  /** The new store; rejected when it exists. */
  readonly to: string
  readonly workers: Workers
  readonly revisionsAhead?: number
}

/**
 * Creates a store from a snapshot. As after a crash, its revision moves forward and older watches end with Compacted.
 */
export const restoreSnapshot = (
  { from, to, workers, revisionsAhead = revisionsAheadDefault }: RestoreOptions,
  signal: AbortSignal,
): Promise<void> => run(workers, { kind: 'restore', from, to, revisionsAhead }, signal)

async function run(workers: Workers, job: SnapshotJob, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const worker = workers.start<never, SnapshotReply>(threadModule('snapshot-thread', import.meta.url), job)
  const done = Promise.withResolvers<void>()
  const abort = () => done.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  worker.listen(
    (reply) => (reply.kind === 'done' ? done.resolve() : done.reject(errorOf(reply.failure))),
    (error) => done.reject(new StoreBroken(`${job.kind} snapshot ${job.to}: the thread ended: ${error?.message}`)),
  )
  try {
    await done.promise
  } finally {
    signal.removeEventListener('abort', abort)
    await worker.stop()
  }
}
