// SqliteStore: the driver for one machine. State and recent history are in memory; a write is acknowledged when it is
// on disk. Conditions are checked against pending writes; readers and watchers see only durable ones.
import { stat } from 'node:fs/promises'
import type { Channel } from '../../base/async/channel.ts'
import { assert } from '../../base/assert.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Workers } from '../../platform/process/workers.ts'
import type { History } from '../history.ts'
import { LeaseTable } from '../lease-table.ts'
import { FutureRevision } from '../store.ts'
import type {
  CommitResult,
  KeyValue,
  LeaseId,
  RangeOptions,
  RangeResult,
  Store,
  StoreBatch,
  Transaction,
  WatchOptions,
} from '../store.ts'
import { checkTransaction, deletionsOf } from '../transaction.ts'
import { DiskClient, type DiskContent } from './disk-client.ts'
import { StoreClosed } from './store-errors.ts'
import { HistoryLoader } from './history-loader.ts'
import { takeSnapshot } from './sqlite-snapshot.ts'
import { StoreMaintenance } from './store-maintenance.ts'
import { WriteQueue, type Entry } from './write-queue.ts'

export interface SqliteStoreOptions {
  readonly path: string
  readonly workers: Workers
  readonly clock: Clock
  /** How long old revisions can be read and watched from. */
  readonly historyMs?: number
  /** Above this file size, writes fail with StoreFull until space is freed. */
  readonly fileBytesMax?: number
}

const historyMsDefault = 5 * 60_000
const fileBytesMaxDefault = 16 * 1024 ** 3
/** When the end of a lease cannot be written, it is retried after this time. */
const leaseRetryMs = 1_000

interface Deps {
  readonly path: string
  readonly workers: Workers
  readonly clock: Clock
  readonly historyMs: number
  readonly disk: DiskClient
  readonly history: History
  readonly content: DiskContent
}

export class SqliteStore implements Store {
  readonly #path: string
  readonly #workers: Workers
  readonly #clock: Clock
  readonly #disk: DiskClient
  readonly #history: History
  readonly #queue: WriteQueue
  readonly #maintenance: StoreMaintenance
  readonly #leases: LeaseTable
  #closing: Promise<void> | undefined

  /** Loads the file, or creates it. */
  static async open(options: SqliteStoreOptions, signal: AbortSignal): Promise<SqliteStore> {
    const { path, workers, clock, historyMs = historyMsDefault } = options
    const { fileBytesMax = fileBytesMaxDefault } = options
    signal.throwIfAborted()
    const loader = new HistoryLoader()
    const disk = new DiskClient({ path, fileBytesMax }, workers, (changes, compacted) => loader.add(changes, compacted))
    const stop = () => void disk.stop()
    signal.addEventListener('abort', stop, { once: true })
    try {
      const content = await clock.outside(disk.opened())
      const history = loader.finish(content.compacted)
      return new SqliteStore({ path, workers, clock, historyMs, disk, history, content })
    } catch (error) {
      await disk.stop()
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  private constructor({ path, workers, clock, historyMs, disk, history, content }: Deps) {
    this.#path = path
    this.#workers = workers
    this.#clock = clock
    this.#disk = disk
    this.#history = history
    this.#queue = new WriteQueue(disk, clock, history, () => this.#maintenance.afterBatch())
    this.#maintenance = new StoreMaintenance(clock, history, this.#queue, historyMs)
    // A failed attempt has rescheduled the lease.
    this.#leases = new LeaseTable(clock, ({ id }) => void this.#endLease(id).catch(() => {}), content.leaseLast)
    for (const lease of content.leases) this.#leases.start(lease)
  }

  get revision(): number {
    return this.#history.current.revision
  }

  freshRevision(_signal: AbortSignal): number {
    return this.revision
  }

  get(key: string, _signal: AbortSignal): Promise<KeyValue | undefined> {
    return Promise.resolve(this.#history.get(key))
  }

  range(options: RangeOptions, _signal: AbortSignal): Promise<RangeResult> {
    return Promise.try(() => this.#history.range(options))
  }

  commit(transaction: Transaction, signal: AbortSignal): Promise<CommitResult> {
    // Not an async function: the writer's continuation must be the first that runs when the promise is resolved.
    const result = Promise.withResolvers<CommitResult>()
    try {
      signal.throwIfAborted()
      this.#commit(transaction, signal, result)
    } catch (error) {
      result.reject(error)
    }
    return result.promise
  }

  watch(options: WatchOptions, signal: AbortSignal): Channel<StoreBatch> {
    return this.#history.watch(options, signal)
  }

  compact(revision: number, signal: AbortSignal): Promise<void> {
    if (revision > this.revision) return Promise.reject(new FutureRevision(`revision ${revision} is in the future`))
    return this.#maintenance.compact(revision, signal)
  }

  async grantLease(ttlMs: number, signal: AbortSignal): Promise<LeaseId> {
    signal.throwIfAborted()
    this.#queue.checkOpen()
    const lease = this.#leases.create(ttlMs)
    await this.#write({ kind: 'granted', lease }, () => this.#leases.start(lease))
    return lease.id
  }

  revokeLease(lease: LeaseId, _signal: AbortSignal): Promise<void> {
    return this.#endLease(lease)
  }

  /** Writes a consistent copy of all durable content to a file, which must not be this store's own. */
  snapshotTo(path: string, signal: AbortSignal): Promise<void> {
    return this.#clock.outside(takeSnapshot(this.#workers, this.#path, path, signal))
  }

  /** The file and its log of recent writes. */
  async sizeBytes(_signal: AbortSignal): Promise<number> {
    const sizes = [this.#path, `${this.#path}-wal`].map((path) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    )
    const [file = 0, log = 0] = await this.#clock.outside(Promise.all(sizes))
    return file + log
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  #commit(transaction: Transaction, signal: AbortSignal, result: PromiseWithResolvers<CommitResult>): void {
    this.#queue.checkOpen()
    checkTransaction(transaction, this.#leases)
    const prepared = this.#history.prepare(transaction, this.#clock.nowMs())
    const kind = prepared.kind === 'conflict' ? 'conflict' : 'committed'
    const revision = prepared.kind === 'pending' ? prepared.version.revision : prepared.revision
    // A result that depends on pending writes waits for them, because they may be discarded.
    if (!this.#history.hasPending) return result.resolve({ kind, revision })
    this.#queue.add({
      ...(prepared.kind === 'pending' ? { record: { kind: 'version', version: prepared.version } } : {}),
      signal,
      settle: () => result.resolve({ kind, revision }),
      fail: result.reject,
    })
  }

  async #endLease(id: LeaseId): Promise<void> {
    const lease = this.#leases.get(id)
    if (lease === undefined) return
    this.#leases.remove(id)
    try {
      this.#queue.checkOpen()
      const writes = deletionsOf(this.#history.keysOf(id)).map((transaction) => {
        const prepared = this.#history.prepare(transaction, this.#clock.nowMs())
        assert(prepared.kind === 'pending', `the end of lease ${id} deletes keys that do not exist`)
        return this.#write({ kind: 'version', version: prepared.version })
      })
      await Promise.all([...writes, this.#write({ kind: 'ended', id })])
      this.#history.removeLease(id)
    } catch (error) {
      this.#leases.start({ id, expiresMs: this.#clock.nowMs() + leaseRetryMs })
      throw error
    }
  }

  #write(record: Required<Entry>['record'], onDurable: () => void = () => {}): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        onDurable()
        resolve()
      }
      this.#queue.add({ record, settle, fail: reject })
    })
  }

  async #close(): Promise<void> {
    this.#leases.close()
    const drained = this.#queue.stop(new StoreClosed(`${this.#path}: the store is closed`))
    await this.#maintenance.close()
    await drained
    // If the disk fails here, the log still has everything.
    await this.#clock.outside(this.#disk.request({ kind: 'close' })).catch(() => {})
    await this.#disk.stop()
    this.#history.close()
  }
}
