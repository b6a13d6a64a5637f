// MeasuredStore: wraps a store and measures the duration of reads and commits, under upstream's metric names.
import type { Channel } from '../base/async/channel.ts'
import type { Clock } from '../base/time/clock.ts'
import { getOrInsert } from '../base/collections/get-or-insert.ts'
import type { Metrics } from '../base/observability/metrics.ts'
import type { MaybePromise } from '../base/async/maybe-promise.ts'
import { unlessAborted } from '../base/async/unless-aborted.ts'
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
} from './store.ts'

const secondsBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]

/** Upstream numbers its etcd clusters. */
const clusterId = { storage_cluster_id: 'etcd-0' }
const sizeMsMax = 2_000

type OperationName = 'get' | 'list' | 'create' | 'update' | 'delete'

type Series = { readonly seconds: { observe(value: number): void }; readonly total: { add(amount: number): void } }

/** The resource that a key belongs to. Every key of a built-in resource maps to the same object. */
export interface StoredResource {
  readonly group: string
  readonly resource: string
}

export interface MeasuredStoreOptions {
  readonly store: Store
  readonly clock: Clock
  readonly metrics: Metrics
  readonly resourceOf: (key: string) => StoredResource
}

export class MeasuredStore implements Store {
  readonly #inner: Store
  readonly #clock: Clock
  readonly #seriesOf: (operation: OperationName, key: string) => Series

  constructor({ store, clock, metrics, resourceOf }: MeasuredStoreOptions) {
    this.#inner = store
    this.#clock = clock
    const histogram = metrics.histogram(
      'etcd_request_duration_seconds',
      '[ALPHA] Store request latency in seconds for each operation and object type.',
      secondsBounds,
      ['operation', 'group', 'resource'],
    )
    const requests = metrics.counter(
      'etcd_requests_total',
      '[ALPHA] Store request counts for each operation and object type.',
      ['operation', 'group', 'resource'],
    )
    const size = metrics.gauge(
      'apiserver_storage_size_bytes',
      '[STABLE] Size of the storage database file physically allocated in bytes.',
      ['storage_cluster_id'],
    )
    metrics.beforeScrape(async () => {
      const bytes = await this.#sizeBytes()
      if (bytes === undefined) size.remove(clusterId)
      else size.set(clusterId, bytes)
    })
    // The objects of custom resources are garbage after the call, and their series may be removed from the metrics.
    const known = new WeakMap<StoredResource, Map<OperationName, Series>>()
    this.#seriesOf = (operation, key) => {
      const resource = resourceOf(key)
      const ofResource = getOrInsert(known, resource, () => new Map<OperationName, Series>())
      return getOrInsert(ofResource, operation, () => {
        const labels = { operation, ...resource }
        return { seconds: histogram.with(labels), total: requests.with(labels) }
      })
    }
  }

  get revision(): number {
    return this.#inner.revision
  }

  freshRevision(signal: AbortSignal): MaybePromise<number> {
    return this.#inner.freshRevision(signal)
  }

  get(key: string, signal: AbortSignal): Promise<KeyValue | undefined> {
    return this.#timed('get', key, this.#inner.get(key, signal))
  }

  range(options: RangeOptions, signal: AbortSignal): Promise<RangeResult> {
    return this.#timed('list', options.start, this.#inner.range(options, signal))
  }

  commit(transaction: Transaction, signal: AbortSignal): Promise<CommitResult> {
    const [first] = transaction.operations
    const done = this.#inner.commit(transaction, signal)
    return first === undefined ? done : this.#timed(operationOf(transaction), first.key, done)
  }

  watch(options: WatchOptions, signal: AbortSignal): Channel<StoreBatch> {
    return this.#inner.watch(options, signal)
  }

  compact(revision: number, signal: AbortSignal): Promise<void> {
    return this.#inner.compact(revision, signal)
  }

  grantLease(ttlMs: number, signal: AbortSignal): Promise<LeaseId> {
    return this.#inner.grantLease(ttlMs, signal)
  }

  revokeLease(lease: LeaseId, signal: AbortSignal): Promise<void> {
    return this.#inner.revokeLease(lease, signal)
  }

  isStale(key: string, value: Uint8Array): boolean {
    return this.#inner.isStale?.(key, value) ?? false
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  sizeBytes(signal: AbortSignal): Promise<number | undefined> {
    return Promise.resolve(this.#inner.sizeBytes?.(signal))
  }

  /** Undefined if it is not known in time: a store that does not respond must not delay the other metrics for long. */
  async #sizeBytes(): Promise<number | undefined> {
    const late = new AbortController()
    const timer = this.#clock.after(sizeMsMax, () => late.abort(new Error('the store did not report its size in time')))
    try {
      return await unlessAborted(this.sizeBytes(late.signal), late.signal)
    } catch {
      return undefined
    } finally {
      timer.cancel()
    }
  }

  /** Returns the given promise itself, so that nothing is delayed. Failures are measured too. */
  #timed<T>(operation: OperationName, key: string, done: Promise<T>): Promise<T> {
    const startedMs = this.#clock.monotonicMs()
    const series = this.#seriesOf(operation, key)
    series.total.add(1)
    const observe = () => series.seconds.observe((this.#clock.monotonicMs() - startedMs) / 1000)
    done.then(observe, observe)
    return done
  }
}

/**
 * A transaction counts as its first operation; the others accompany it, such as the address allocations of a Service.
 */
function operationOf({ conditions, operations: [first] }: Transaction): OperationName {
  if (first?.kind === 'delete') return 'delete'
  return conditions.some(({ key, modRevision }) => key === first?.key && modRevision === 0) ? 'create' : 'update'
}
