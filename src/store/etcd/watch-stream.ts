// WatchStream: all watches of the store on one gRPC stream. When the stream breaks it is reopened, on another member if
// necessary, and each watch continues after its last delivered revision: none is skipped, none is delivered twice.
import { present } from '../../base/assert.ts'
import { Channel } from '../../base/async/channel.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { GrpcDuplex } from '../../wire/grpc/grpc-channel.ts'
import { Compacted, StoreUnavailable, type StoreBatch } from '../store.ts'
import { BatchAssembler } from './batch-assembler.ts'
import type { EtcdRange } from './etcd-range.ts'
import { contains, allKeys } from './etcd-range.ts'
import { requireLeader, type EtcdMembers } from './etcd-members.ts'
import { statusMethod, watchMethod, type WatchResponse } from './etcd-messages.ts'
import type { OwnWrites } from './own-writes.ts'
import { hasReliableProgress, ProgressRequester } from './watch-progress.ts'

interface Watch {
  readonly id: number
  readonly range: EtcdRange
  readonly channel: Channel<StoreBatch>
  /** The newest revision that was delivered, or that precedes the watch. */
  delivered: number
  batches: BatchAssembler
  /**
   * etcd has confirmed the watch on this stream. Before, it holds back the events of the watch, but not its responses to progress
   * requests, which would seem to say that there were none.
   */
  isCreated: boolean
  /** Responses on this stream that answer progress requests from before this watch. */
  staleProgressResponses: number
}

type Duplex = GrpcDuplex<(typeof watchMethod)['request'], (typeof watchMethod)['response']>

/** A reader that is further behind is disconnected and must relist. */
const watchBatchesMax = 10_000
const reopenMsFirst = 50
const reopenMsMax = 1_000
/** The watch id in responses that concern all watches. */
const allWatches = -1

export class WatchStream {
  readonly #members: EtcdMembers
  readonly #clock: Clock
  readonly #own: OwnWrites
  readonly #prefixLength: number
  readonly #onRevision: (revision: number) => void
  readonly #watches = new Map<number, Watch>()
  readonly #closed = new AbortController()
  readonly #progress: ProgressRequester
  #lastId = 0
  #running: Promise<void> | undefined
  #open: { readonly duplex: Duplex; readonly hasReliableProgress: boolean } | undefined
  #clusterId: bigint | undefined

  constructor(
    members: EtcdMembers,
    clock: Clock,
    own: OwnWrites,
    prefixLength: number,
    onRevision: (revision: number) => void,
  ) {
    this.#members = members
    this.#clock = clock
    this.#own = own
    this.#prefixLength = prefixLength
    this.#onRevision = onRevision
    this.#progress = new ProgressRequester(
      clock,
      () => this.#send({ progressRequest: {} }),
      (revision) => this.#open?.hasReliableProgress === true && this.#isBehind(revision),
    )
  }

  watch(range: EtcdRange, from: number, signal: AbortSignal): Channel<StoreBatch> {
    const id = ++this.#lastId
    const channel = new Channel<StoreBatch>(watchBatchesMax, () => this.#remove(id))
    const batches = new BatchAssembler(this.#prefixLength)
    const watch: Watch = {
      id,
      range,
      channel,
      delivered: from - 1,
      batches,
      isCreated: false,
      staleProgressResponses: 0,
    }
    this.#watches.set(id, watch)
    channel.endOnAbort(signal)
    if (this.#open !== undefined) this.#create(watch)
    this.#progress.recheck()
    this.#running ??= this.#run()
    return channel
  }

  /** This revision exists: every watch should reach it. */
  requireRevision(revision: number): void {
    this.#progress.requireRevision(revision)
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error('the store is closed'))
    this.#progress.stop()
    for (const { channel } of [...this.#watches.values()]) channel.end()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#closed
    let waitMs = reopenMsFirst
    while (!signal.aborted) {
      const { channel } = this.#members
      try {
        const { header, version } = await channel.unary(statusMethod, {}, requireLeader, signal)
        this.#checkCluster(header?.clusterId, channel.endpoint)
        const duplex = await channel.duplex(watchMethod, requireLeader, signal)
        this.#open = { duplex, hasReliableProgress: hasReliableProgress(version) }
        this.#progress.reset()
        this.#progress.recheck()
        for (const watch of this.#watches.values()) this.#create(watch)
        for await (const response of duplex.messages) {
          waitMs = reopenMsFirst
          await this.#awaitOwnWrites(response)
          this.#onResponse(response)
        }
      } catch (error) {
        if (error instanceof StoreUnavailable) this.#endAll(error)
      }
      this.#open = undefined
      this.#members.switchFrom(channel)
      await this.#clock.sleep(waitMs, signal).catch(() => {})
      waitMs = Math.min(waitMs * 2, reopenMsMax)
    }
  }

  /** Revisions of another cluster are unrelated: continuing with them would silently lose events. */
  #checkCluster(clusterId: bigint | undefined, endpoint: string): void {
    this.#clusterId ??= clusterId
    if (clusterId !== this.#clusterId)
      throw new StoreUnavailable(`etcd at ${endpoint} belongs to cluster ${clusterId}, not to ${this.#clusterId}`)
  }

  #create(watch: Watch): void {
    watch.batches = new BatchAssembler(this.#prefixLength)
    watch.isCreated = false
    watch.staleProgressResponses = this.#progress.outstanding
    // Without reliable progress responses, the watch receives the events of all keys and thereby every revision.
    const { key, rangeEnd } = this.#open?.hasReliableProgress === true ? watch.range : allKeys
    this.#send({
      createRequest: {
        key,
        rangeEnd,
        startRevision: watch.delivered + 1,
        watchId: watch.id,
        prevKv: true,
        fragment: true,
        progressNotify: this.#open?.hasReliableProgress === true,
      },
    })
  }

  #send(request: Parameters<Duplex['send']>[0]): void {
    // A request that a broken stream did not send is repeated on the next stream, which creates all watches again.
    this.#open?.duplex.send(request).catch(() => {})
  }

  #remove(id: number): void {
    if (this.#watches.delete(id)) this.#send({ cancelRequest: { watchId: id } })
  }

  async #awaitOwnWrites({ events }: WatchResponse): Promise<void> {
    const keys = new Map<number, string[]>()
    for (const { kv } of events) {
      const { key, modRevision } = present(kv, 'an event has a key')
      const list = keys.get(modRevision) ?? []
      list.push(key.slice(this.#prefixLength))
      keys.set(modRevision, list)
    }
    for (const [revision, changed] of keys) await this.#own.whenDeliverable(revision, changed)
  }

  #onResponse(response: WatchResponse): void {
    const revision = response.header?.revision ?? 0
    this.#onRevision(revision)
    if (response.watchId === allWatches && !response.canceled) return this.#onProgress(revision)
    const watch = this.#watches.get(response.watchId)
    if (watch === undefined) return
    if (response.canceled) return watch.channel.end(this.#reasonOf(watch, response))
    if (response.created) watch.isCreated = true
    try {
      for (const batch of watch.batches.add(response, (key) => contains(watch.range, key))) deliver(watch, batch)
    } catch (error) {
      return watch.channel.end(error)
    }
    const isProgress = response.events.length === 0 && !response.created
    if (isProgress) deliver(watch, { revision, events: [] })
  }

  #onProgress(revision: number): void {
    this.#progress.onResponse()
    for (const watch of this.#watches.values())
      if (watch.staleProgressResponses > 0) watch.staleProgressResponses--
      else if (watch.isCreated) deliver(watch, { revision, events: [] })
  }

  #reasonOf({ delivered }: Watch, { compactRevision, cancelReason }: WatchResponse): Error {
    if (compactRevision > 0) return new Compacted(delivered + 1, compactRevision)
    return new StoreUnavailable(`etcd ended a watch: ${cancelReason || 'no reason given'}`)
  }

  #isBehind(revision: number): boolean {
    for (const { delivered } of this.#watches.values()) if (delivered < revision) return true
    return false
  }

  #endAll(error: Error): void {
    for (const { channel } of [...this.#watches.values()]) channel.end(error)
  }
}

function deliver(watch: Watch, batch: StoreBatch): void {
  if (batch.revision <= watch.delivered) return
  watch.delivered = batch.revision
  watch.channel.push(batch)
}
