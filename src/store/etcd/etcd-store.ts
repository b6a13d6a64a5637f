// EtcdStore: the driver for clusters of several machines. etcd holds the state; the driver only tracks calls in flight.
// Every read goes to the leader, every write is a transaction, and all watches share one stream.
import type { Channel } from '../../base/async/channel.ts'
import type { Clock } from '../../base/time/clock.ts'
import { prefixEnd } from '../../base/collections/ordered-map.ts'
import type { Random } from '../../base/random/random.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { bytesOf, Compacted, LeaseNotFound, StoreUnavailable } from '../store.ts'
import type {
  CommitResult,
  KeyValue,
  LeaseId,
  Operation,
  RangeOptions,
  RangeResult,
  Store,
  StoreBatch,
  Transaction,
  WatchOptions,
} from '../store.ts'
import { checkTransaction } from '../transaction.ts'
import type { ProtoInput } from '../../wire/protobuf/proto-message.ts'
import { toKeyValue } from './batch-assembler.ts'
import { Compactor } from './compactor.ts'
import { toStoreError } from './etcd-failure.ts'
import { etcdRange, allKeys, keyAfter } from './etcd-range.ts'
import { EtcdMembers, type EtcdMembersOptions } from './etcd-members.ts'
import { leaseGrantMethod, leaseRevokeMethod, rangeMethod, statusMethod, txnMethod } from './etcd-messages.ts'
import { OwnWrites } from './own-writes.ts'
import { takeSnapshot } from './etcd-snapshot.ts'
import { WatchStream } from './watch-stream.ts'

export interface EtcdStoreOptions extends EtcdMembersOptions {
  readonly random: Random
  /** A prefix of every key in etcd, so that several stores can share one etcd. */
  readonly prefix?: string
  /** How long old revisions can be read and watched from. */
  readonly historyMs?: number
}

const historyMsDefault = 5 * 60_000
/** A range is read in pages, which bounds the size of a message. */
const pageKeys = 1_000
/** A key that is never written: reading it costs one round trip to the leader and returns the revision. */
const emptyRangeKey = 'coxswain/revision'
/** etcd checks leases itself and rejects a transaction with an expired one. */
const leasesInEtcd = { get: () => true }
const neverAborted = new AbortController().signal

export class EtcdStore implements Store {
  readonly #clock: Clock
  readonly #random: Random
  readonly #prefix: string
  readonly #members: EtcdMembers
  readonly #own = new OwnWrites()
  readonly #stream: WatchStream
  readonly #compactor: Compactor
  #revision = 0
  #fresh: { readonly now: Promise<number>; next: Promise<number> | undefined } | undefined

  /** Rejects when no member responds. */
  static async open(options: EtcdStoreOptions, signal: AbortSignal): Promise<EtcdStore> {
    const store = new EtcdStore(options)
    try {
      await store.freshRevision(signal)
    } catch (error) {
      await store.close()
      throw error
    }
    return store
  }

  private constructor(options: EtcdStoreOptions) {
    const { clock, random, prefix = '', historyMs = historyMsDefault } = options
    this.#clock = clock
    this.#random = random
    this.#prefix = prefix
    this.#members = new EtcdMembers(options)
    this.#stream = new WatchStream(this.#members, clock, this.#own, prefix.length, (revision) =>
      this.#observeRevision(revision),
    )
    this.#compactor = new Compactor(this.#members, clock, historyMs)
  }

  get revision(): number {
    return this.#revision
  }

  // A caller that arrives during a request shares the next request: the current one may return an older revision.
  freshRevision(signal: AbortSignal): Promise<number> {
    if (this.#fresh === undefined) return unlessAborted(this.#requestFreshRevision(), signal)
    const request = () => this.#requestFreshRevision()
    this.#fresh.next ??= this.#fresh.now.then(request, request)
    return unlessAborted(this.#fresh.next, signal)
  }

  /** The file of the member that responds. */
  async sizeBytes(signal: AbortSignal): Promise<number> {
    const { dbSize } = await this.#members.read(statusMethod, {}, signal)
    return dbSize
  }

  async get(key: string, signal: AbortSignal): Promise<KeyValue | undefined> {
    const { kvs } = await this.#range({ key: this.#prefix + key }, signal)
    const [item] = kvs
    return item === undefined ? undefined : toKeyValue(item, this.#prefix.length)
  }

  async range({ start, end, limit = 0, revision = 0 }: RangeOptions, signal: AbortSignal): Promise<RangeResult> {
    const { rangeEnd, key } = etcdRange(this.#prefix, start, end)
    const items: KeyValue[] = []
    let at = revision
    let from = key
    for (;;) {
      const pageLimit = limit === 0 ? pageKeys : Math.min(pageKeys, limit - items.length)
      const page = await this.#range({ key: from, rangeEnd, limit: pageLimit, revision: at }, signal)
      for (const kv of page.kvs) items.push(toKeyValue(kv, this.#prefix.length))
      at ||= page.header?.revision ?? 0
      const last = page.kvs.at(-1)
      if (page.more && last !== undefined && items.length !== limit) from = keyAfter(last.key)
      else return { revision: at, items, remaining: page.more ? page.count - page.kvs.length : 0 }
    }
  }

  async commit(transaction: Transaction, signal: AbortSignal): Promise<CommitResult> {
    checkTransaction(transaction, leasesInEtcd)
    const request = {
      compare: transaction.conditions.map(({ key, modRevision }) => ({
        target: 'MOD' as const,
        key: this.#prefix + key,
        modRevision,
      })),
      success: transaction.operations.map((operation) => this.#requestOp(operation)),
    }
    return this.#own.run(transaction, async () => {
      const { header, succeeded } = await this.#call(this.#members.write(txnMethod, request, signal))
      const revision = this.#observeRevision(header?.revision ?? 0)
      return { kind: succeeded ? 'committed' : 'conflict', revision }
    })
  }

  watch({ prefix, from }: WatchOptions, signal: AbortSignal): Channel<StoreBatch> {
    return this.#stream.watch(etcdRange(this.#prefix, prefix, prefixEnd(prefix)), from, signal)
  }

  async compact(revision: number, signal: AbortSignal): Promise<void> {
    await this.#compactor.compact(revision, signal)
  }

  async grantLease(ttlMs: number, signal: AbortSignal): Promise<LeaseId> {
    // Chosen here, because ids that etcd chooses exceed 2^53.
    const id = 1 + this.#random.below(2 ** 20) * 2 ** 32 + this.#random.below(2 ** 32)
    const request = { id, ttlSeconds: Math.max(1, Math.ceil(ttlMs / 1000)) }
    await this.#call(this.#members.write(leaseGrantMethod, request, signal))
    return id
  }

  async revokeLease(lease: LeaseId, signal: AbortSignal): Promise<void> {
    // The lease may have expired, or been revoked by a previous attempt.
    const { header } = await this.#members.read(leaseRevokeMethod, { id: lease }, signal).catch((error: unknown) => {
      const meaning = toStoreError(error)
      if (meaning instanceof LeaseNotFound) return { header: undefined }
      throw meaning
    })
    this.#observeRevision(header?.revision ?? 0)
  }

  /** Writes etcd's own snapshot to a file and verifies it; `etcdutl snapshot restore` creates a cluster from it. */
  snapshotTo(path: string, signal: AbortSignal): Promise<void> {
    return this.#clock.outside(takeSnapshot(this.#members.channel, path, signal))
  }

  async close(): Promise<void> {
    const ended = this.#stream.close()
    this.#compactor.close()
    this.#members.close(new StoreUnavailable('the store is closed'))
    await ended
  }

  #requestOp(operation: Operation) {
    const key = this.#prefix + operation.key
    if (operation.kind === 'delete') return { requestDeleteRange: { key } }
    return { requestPut: { key, value: bytesOf(operation.value), lease: operation.lease } }
  }

  #requestFreshRevision(): Promise<number> {
    const now = this.#linearizableRevision().finally(() => {
      if (this.#fresh?.now === now) this.#fresh = undefined
    })
    this.#fresh = { now, next: undefined }
    return now
  }

  async #linearizableRevision(): Promise<number> {
    const { header } = await this.#range({ key: emptyRangeKey, countOnly: true }, neverAborted)
    return header?.revision ?? 0
  }

  async #range(request: ProtoInput<(typeof rangeMethod)['request']>, signal: AbortSignal) {
    try {
      const response = await this.#call(this.#members.read(rangeMethod, request, signal), request.revision)
      this.#observeRevision(response.header?.revision ?? 0)
      return response
    } catch (error) {
      throw error instanceof Compacted ? await this.#compactedError(request.revision ?? 0, signal) : error
    }
  }

  /** Only a watch reports the oldest revision that is left. */
  async #compactedError(revision: number, signal: AbortSignal): Promise<unknown> {
    try {
      for await (const _ of this.#stream.watch(allKeys, revision, signal)) break
      return new Compacted(revision, revision + 1)
    } catch (error) {
      return error
    }
  }

  #call<T>(response: Promise<T>, revision?: number): Promise<T> {
    return this.#clock.outside(
      response.catch((error: unknown) => {
        throw toStoreError(error, revision)
      }),
    )
  }

  #observeRevision(revision: number): number {
    if (revision > this.#revision) {
      this.#revision = revision
      this.#stream.requireRevision(revision)
    }
    return revision
  }
}
