// SqliteStore: the driver for one machine. State and recent history are in memory; a write is acknowledged when it is
// on disk. Conditions are checked against pending writes; readers and watchers see only durable ones.
import { stat } from 'node:fs/promises'
import type { Channel } from '../../base/async/channel.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Workers } from '../../platform/process/workers.ts'
import { historyBounds as historyBoundsDefault, type History, type HistoryBounds } from '../history.ts'
import { LeaseTable, type Lease } from '../lease-table.ts'
import type { Decision, LocalStore, ReadonlyLeases, StoreState } from '../local-store.ts'
import { FutureRevision, LeaseExists } from '../store.ts'
import type {
  CommitResult,
  KeyValue,
  LeaseId,
  Operation,
  RangeOptions,
  RangeResult,
  StoreBatch,
  Transaction,
  WatchOptions,
} from '../store.ts'
import type { RevisionEvents, Version } from '../store-version.ts'
import { checkLeases, checkTransaction, deletionsOf, inTransactions } from '../transaction.ts'
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
  /** How long old revisions can be read and watched from; Infinity: until they are compacted. */
  readonly historyMs?: number
  readonly historyBounds?: HistoryBounds
  /** Above this file size, writes fail with StoreFull until space is freed. */
  readonly fileBytesMax?: number
  /** false: faster, but a power failure loses acknowledged writes or damages the file. */
  readonly syncs?: boolean
}

const historyMsDefault = 5 * 60_000
export const fileBytesMaxDefault = 16 * 1024 ** 3
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

export class SqliteStore implements LocalStore {
  readonly #path: string
  readonly #workers: Workers
  readonly #clock: Clock
  readonly #disk: DiskClient
  readonly #history: History
  readonly #queue: WriteQueue
  readonly #maintenance: StoreMaintenance
  readonly #leases: LeaseTable
  /** Leases whose grant or end is being written. */
  readonly #busyLeases = new Set<LeaseId>()
  #closing: Promise<void> | undefined

  /** Loads the file, or creates it. */
  static async open(options: SqliteStoreOptions, signal: AbortSignal): Promise<SqliteStore> {
    const { path, workers, clock, historyMs = historyMsDefault } = options
    const { fileBytesMax = fileBytesMaxDefault, historyBounds = historyBoundsDefault, syncs = true } = options
    signal.throwIfAborted()
    const loader = new HistoryLoader()
    const disk = new DiskClient({ path, fileBytesMax, syncs }, workers, (changes, compacted) =>
      loader.add(changes, compacted),
    )
    const stop = () => void disk.stop()
    signal.addEventListener('abort', stop, { once: true })
    try {
      const content = await clock.outside(disk.opened())
      const history = loader.finish(content.compacted, historyBounds)
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

  /** Not an async function either. */
  transact<T>(
    decide: (newest: StoreState) => Decision<T>,
    signal: AbortSignal,
  ): Promise<{ readonly revision: number; readonly result: T }> {
    const settled = Promise.withResolvers<{ readonly revision: number; readonly result: T }>()
    try {
      signal.throwIfAborted()
      this.#queue.checkOpen()
      const { operations, result } = decide(this.#history.head)
      checkLeases(operations, this.#leases)
      const versions = this.#append(operations)
      const { revision } = this.#history.head
      const settle = () => settled.resolve({ revision, result })
      if (!this.#history.hasPending) settle()
      for (const version of versions)
        this.#queue.add({ record: { kind: 'version', version }, settle: () => {}, fail: settled.reject })
      if (this.#history.hasPending) this.#queue.add({ signal, settle, fail: settled.reject })
    } catch (error) {
      settled.reject(error)
    }
    return settled.promise
  }

  get compacted(): number {
    return this.#history.oldest.revision
  }

  stateAt(revision: number): StoreState {
    return { revision, state: this.#history.stateAt(revision) }
  }

  changesSince(from: number): readonly RevisionEvents[] {
    return this.#history.changesSince(from)
  }

  watch(options: WatchOptions, signal: AbortSignal): Channel<StoreBatch> {
    return this.#history.watch(options, signal)
  }

  compact(revision: number, signal: AbortSignal): Promise<void> {
    if (revision > this.revision) return Promise.reject(new FutureRevision(`revision ${revision} is in the future`))
    return this.#maintenance.compact(revision, signal)
  }

  async grantLease(ttlMs: number, signal: AbortSignal, id?: LeaseId): Promise<LeaseId> {
    signal.throwIfAborted()
    this.#queue.checkOpen()
    if (id !== undefined && (this.#leases.get(id) !== undefined || this.#busyLeases.has(id)))
      throw new LeaseExists(`lease ${id} exists`)
    const lease = this.#leases.create(ttlMs, id)
    this.#busyLeases.add(lease.id)
    try {
      await this.#write({ kind: 'granted', lease }, () => this.#leases.start(lease))
    } finally {
      this.#busyLeases.delete(lease.id)
    }
    return lease.id
  }

  async renewLease(id: LeaseId, signal: AbortSignal): Promise<Lease | undefined> {
    signal.throwIfAborted()
    this.#queue.checkOpen()
    const lease = this.#leases.get(id)
    if (lease === undefined) return undefined
    const renewed = this.#leases.create(lease.ttlMs, id)
    this.#leases.start(renewed)
    await this.#write({ kind: 'granted', lease: renewed })
    return renewed
  }

  get leases(): ReadonlyLeases {
    return this.#leases
  }

  keysOf(lease: LeaseId): string[] {
    return this.#history.keysOf(lease).toSorted()
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
    this.#busyLeases.add(id)
    try {
      this.#queue.checkOpen()
      const versions = this.#append(deletionsOf(this.keysOf(id)))
      const writes = versions.map((version) => this.#write({ kind: 'version', version }))
      await Promise.all([...writes, this.#write({ kind: 'ended', id })])
      this.#history.removeLease(id)
    } catch (error) {
      this.#leases.start({ ...lease, expiresMs: this.#clock.nowMs() + leaseRetryMs })
      throw error
    } finally {
      this.#busyLeases.delete(id)
    }
  }

  /** Adds the operations to the pending writes: the versions that they make. */
  #append(operations: readonly Operation[]): Version[] {
    return inTransactions(operations).flatMap((some) => {
      const prepared = this.#history.append(some, this.#clock.nowMs())
      return prepared.kind === 'pending' ? [prepared.version] : []
    })
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
