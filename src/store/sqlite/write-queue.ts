// WriteQueue: group commit. All writes that arrive while the disk is busy go into one transaction with one sync. When a
// batch fails, all pending writes are discarded, because their revisions and conditions depend on it.
import { every, type Clock } from '../../base/time/clock.ts'
import type { History } from '../history.ts'
import { sizeOfEvents, type Version } from '../store-version.ts'
import { changesOf, pack } from './packed-changes.ts'
import type { DiskClient } from './disk-client.ts'
import { StoreFull, StoreInUse, StoreOverloaded } from './store-errors.ts'
import type { CompactRequest, DiskRequest, LeaseChange } from './disk-protocol.ts'

/** A write that is settled when it is durable; without a record it only waits for the earlier ones. */
export interface Entry {
  readonly record?: { readonly kind: 'version'; readonly version: Version } | LeaseChange
  /** The caller may abort before that. */
  readonly signal?: AbortSignal
  settle(): void
  fail(error: Error): void
}

interface MaintenanceTask {
  readonly request: CompactRequest | { readonly kind: 'shrink' }
  readonly done: PromiseWithResolvers<boolean>
}

const entriesPerBatchMax = 1_000
const bytesPerBatchMax = 4 * 1024 * 1024
/** Further writes are rejected: they would wait for seconds. */
const entriesMax = 50_000
/** How often waiting writes are checked for aborted signals: a listener for each signal would cost more. */
const abortCheckMs = 100

export class WriteQueue {
  readonly #disk: DiskClient
  readonly #clock: Clock
  readonly #history: History
  readonly #onDurable: () => void
  #entries: Entry[] = []
  /** The batch that was sent to the disk last. */
  #writing: readonly Entry[] = []
  #maintenanceTasks: MaintenanceTask[] = []
  #drained: Promise<void> | undefined
  /** Why no more writes are accepted. */
  #stopped: Error | undefined

  constructor(disk: DiskClient, clock: Clock, history: History, onDurable: () => void) {
    this.#disk = disk
    this.#clock = clock
    this.#history = history
    this.#onDurable = onDurable
  }

  /** Throws when writes are not accepted. */
  checkOpen(): void {
    if (this.#stopped !== undefined) throw this.#stopped
    if (this.#entries.length >= entriesMax)
      throw new StoreOverloaded(`${this.#entries.length} writes are already waiting for the disk`)
  }

  get isIdle(): boolean {
    return this.#drained === undefined
  }

  add(entry: Entry): void {
    if (this.#stopped !== undefined) return entry.fail(this.#stopped)
    this.#entries.push(entry)
    this.#startDraining()
  }

  /** Runs a disk task that alternates with the writes. */
  runMaintenance(request: MaintenanceTask['request']): Promise<boolean> {
    if (this.#stopped !== undefined) return Promise.reject(this.#stopped)
    const done = Promise.withResolvers<boolean>()
    this.#maintenanceTasks.push({ request, done })
    this.#startDraining()
    return done.promise
  }

  /** Rejects new writes and waits for the others. */
  async stop(reason: Error): Promise<void> {
    this.#stopped ??= reason
    await this.#drained
  }

  #startDraining(): void {
    // Starts one microtask later, so that writes from the same event join the first batch.
    this.#drained ??= Promise.resolve().then(() => this.#drain())
  }

  async #drain(): Promise<void> {
    // One timer for all batches: under load, there are thousands in a second.
    const abortCheck = every(this.#clock, abortCheckMs, () => rejectAborted([...this.#writing, ...this.#entries]))
    while (this.#entries.length > 0 || this.#maintenanceTasks.length > 0) {
      if (this.#entries.length > 0) await this.#writeBatch()
      const runMaintenance = this.#maintenanceTasks.shift()
      if (runMaintenance !== undefined)
        await this.#request(runMaintenance.request).then(runMaintenance.done.resolve, runMaintenance.done.reject)
    }
    abortCheck.cancel()
    this.#drained = undefined
  }

  async #writeBatch(): Promise<void> {
    const batch = (this.#writing = this.#takeBatch())
    const records = batch.flatMap(({ record }) => record ?? [])
    const versions = records.flatMap((record) => (record.kind === 'version' ? [record.version] : []))
    if (records.length > 0)
      try {
        await this.#request({
          kind: 'write',
          changes: pack(versions.flatMap(changesOf)),
          leases: records.filter((record) => record.kind !== 'version'),
        })
      } catch (error) {
        return this.#rollBack(batch, error as Error)
      }
    rejectAborted(batch)
    const published = this.#history.publish(versions.length)
    for (const entry of batch) entry.settle()
    // The continuations of the writers are scheduled before those of the watchers.
    queueMicrotask(() => this.#history.notifyWatchers(published))
    this.#onDurable()
  }

  #takeBatch(): Entry[] {
    let count = 0
    let bytes = 0
    for (const { record } of this.#entries) {
      if (count === entriesPerBatchMax || bytes >= bytesPerBatchMax) break
      if (record?.kind === 'version') bytes += sizeOfEvents(record.version)
      count++
    }
    const batch = this.#entries.slice(0, count)
    this.#entries = this.#entries.slice(count)
    return batch
  }

  #rollBack(batch: readonly Entry[], error: Error): void {
    const dependent = this.#entries
    this.#entries = []
    this.#history.discardPending()
    // 'Full' and 'in use' mean that nothing was written. After any other error the outcome is only known after reopening the file.
    if (!(error instanceof StoreFull || error instanceof StoreInUse)) this.#stopped ??= error
    for (const entry of [...batch, ...dependent]) entry.fail(error)
  }

  #request(request: DiskRequest): Promise<boolean> {
    return this.#clock.outside(this.#disk.request(request))
  }
}

/** The later result of the write is ignored. */
function rejectAborted(entries: readonly Entry[]): void {
  for (const entry of entries) if (entry.signal?.aborted) entry.fail(entry.signal.reason as Error)
}
