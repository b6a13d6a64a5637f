// WatchSession: the watches of one stream. Each watch has a position in the history of the store. Changes are sent while
// the client takes them; a client that is slow gets them later, from the history, and only then they may be compacted.
import type { ServedStream } from '../../wire/grpc/grpc-server.ts'
import { Compacted, type StoreEvent } from '../store.ts'
import { keyOf } from '../store-version.ts'
import type { watchMethod, WatchCreateRequest, WatchRequest, WatchResponse, WireEvent } from './etcd-api.ts'
import { contains, isEmptyRange, keyRange, type KeyRange } from './key-range.ts'
import type { HeaderAt } from './kv-service.ts'
import { toWire } from './read-range.ts'
import type { WatchHub, WatchListener } from './watch-hub.ts'

type Stream = ServedStream<(typeof watchMethod)['request'], (typeof watchMethod)['response']>

interface Watch {
  readonly id: number
  readonly range: KeyRange
  readonly options: WatchCreateRequest
  /** The first revision that was not delivered. */
  next: number
  /** Something was sent since the last time that progress was due. */
  isActive: boolean
}

/** A client that has not taken as much gets no more for now. */
const waitingBytesMax = 4 << 20
/** A response with changes of several revisions is not extended beyond this size. */
const responseBytes = 1 << 20
/** A larger response is split if the watch allows fragments. */
const fragmentBytes = 2 << 20
const watchesMax = 100_000
/** The id of a watch that could not be created. */
const invalidWatch = -1
/** The id in responses about all watches of a stream. */
const allWatches = -1

export class WatchSession implements WatchListener {
  readonly #hub: WatchHub
  readonly #stream: Stream
  readonly #headerAt: HeaderAt
  readonly #watches = new Map<number, Watch>()
  #nextId = 0
  /** The revision that all watches must have reached before the client is notified. */
  #requestedProgress: number | undefined

  constructor(hub: WatchHub, stream: Stream, headerAt: HeaderAt) {
    this.#hub = hub
    this.#stream = stream
    this.#headerAt = headerAt
  }

  /** Until the client ends the stream. */
  async serve(): Promise<void> {
    using _added = this.#hub.add(this)
    this.#stream.onRoom(() => this.advanced())
    for await (const request of this.#stream.messages) this.#handle(request)
  }

  advanced(): void {
    for (const watch of this.#watches.values()) {
      if (!this.#hasRoom) return
      this.#deliver(watch)
    }
    this.#reportProgress()
  }

  progressDue(): void {
    for (const watch of this.#watches.values()) {
      const { id, isActive, options } = watch
      if (options.progressNotify && !isActive && this.#isCurrent(watch))
        this.#send({ header: this.#headerAt(this.#hub.revision), watchId: id })
      watch.isActive = false
    }
  }

  get #hasRoom(): boolean {
    return this.#stream.waitingBytes < waitingBytesMax
  }

  #isCurrent({ next }: Watch): boolean {
    return next > this.#hub.revision
  }

  #send(response: WatchResponse): void {
    this.#stream.send(response)
  }

  #handle({ createRequest, cancelRequest, progressRequest }: WatchRequest): void {
    if (createRequest !== undefined) this.#create(createRequest)
    else if (cancelRequest !== undefined) this.#cancel(cancelRequest.watchId)
    else if (progressRequest !== undefined) {
      this.#requestedProgress = this.#hub.store.revision
      this.#reportProgress()
    }
  }

  #create(options: WatchCreateRequest): void {
    const range = keyRange(options.key || '\0', options.rangeEnd)
    const { revision } = this.#hub.store
    const header = this.#headerAt(revision)
    const rejected = (cancelReason: string) =>
      this.#send({ header, watchId: invalidWatch, created: true, canceled: true, cancelReason })
    if (isEmptyRange(range)) return rejected('mvcc: watcher range is empty')
    if (this.#watches.size === watchesMax) return rejected(`a stream has at most ${watchesMax} watches`)
    if (options.watchId !== 0 && this.#watches.has(options.watchId))
      return rejected('mvcc: duplicate watch ID provided on the WatchStream')
    const id = options.watchId === 0 ? this.#freeId() : options.watchId
    const next = options.startRevision > 0 ? options.startRevision : revision + 1
    const watch: Watch = { id, range, options, next, isActive: true }
    this.#watches.set(id, watch)
    this.#send({ header, watchId: id, created: true })
    if (this.#hasRoom) this.#deliver(watch)
  }

  #freeId(): number {
    while (this.#watches.has(this.#nextId)) this.#nextId++
    return this.#nextId++
  }

  #cancel(id: number): void {
    if (!this.#watches.delete(id)) return
    this.#send({ header: this.#headerAt(this.#hub.store.revision), watchId: id, canceled: true })
    this.#reportProgress()
  }

  #reportProgress(): void {
    const { revision } = this.#hub
    if (this.#requestedProgress === undefined || revision < this.#requestedProgress) return
    // As etcd: a stream without watches has no progress.
    if (this.#watches.size === 0) return void (this.#requestedProgress = undefined)
    for (const watch of this.#watches.values()) if (!this.#isCurrent(watch)) return
    this.#requestedProgress = undefined
    this.#send({ header: this.#headerAt(revision), watchId: allWatches })
  }

  /** Sends what the watch has not received yet, as long as there is room. */
  #deliver(watch: Watch): void {
    const { revision } = this.#hub
    try {
      if (watch.next <= revision && watch.next === this.#hub.store.compacted) this.#deliverCompacted(watch)
      if (watch.next > revision) return
      let events: WireEvent[] = []
      let bytes = 0
      for (const change of this.#hub.store.changesSince(watch.next)) {
        if (change.revision > revision) break
        for (const event of change.events) {
          const wire = this.#toWire(watch, event)
          if (wire === undefined) continue
          events.push(wire)
          bytes += sizeOf(wire)
        }
        watch.next = change.revision + 1
        if (bytes < responseBytes) continue
        this.#sendEvents(watch, events, change.revision)
        events = []
        bytes = 0
        if (!this.#hasRoom) return
      }
      if (events.length > 0) this.#sendEvents(watch, events, revision)
    } catch (error) {
      if (!(error instanceof Compacted)) throw error
      this.#watches.delete(watch.id)
      const { compacted } = this.#hub.store
      // As in etcd, this response has no revision.
      this.#send({ header: this.#headerAt(0), watchId: watch.id, canceled: true, compactRevision: compacted })
    }
  }

  /** Of the revision up to which the store was compacted, what is left is delivered: the puts that are still there. */
  #deliverCompacted(watch: Watch): void {
    const revision = watch.next
    if (revision <= 1) return
    const { start, end } = watch.range
    const events: WireEvent[] = []
    for (const [, item] of this.#hub.store.stateAt(revision).state.range(start, end))
      if (item.modRevision === revision && !watch.options.filters.includes('NOPUT'))
        events.push({ type: 'PUT', kv: toWire(item) })
    watch.next++
    if (events.length > 0) this.#sendEvents(watch, events, revision)
  }

  #toWire({ range, options: { filters, prevKv } }: Watch, event: StoreEvent): WireEvent | undefined {
    if (!contains(range, keyOf(event)) || filters.includes(event.kind === 'put' ? 'NOPUT' : 'NODELETE'))
      return undefined
    const { previous, revision } = event
    const shown = prevKv && previous !== undefined ? { prevKv: toWire(previous) } : {}
    if (event.kind === 'put') return { type: 'PUT', kv: toWire(event.item), ...shown }
    return { type: 'DELETE', kv: { key: event.key, modRevision: revision }, ...shown }
  }

  #sendEvents(watch: Watch, events: readonly WireEvent[], revision: number): void {
    watch.isActive = true
    const header = this.#headerAt(revision)
    const pieces = watch.options.fragment ? fragmentsOf(events) : [events]
    for (const [index, piece] of pieces.entries())
      this.#send({ header, watchId: watch.id, events: piece, fragment: index < pieces.length - 1 })
  }
}

function fragmentsOf(events: readonly WireEvent[]): (readonly WireEvent[])[] {
  const pieces: WireEvent[][] = [[]]
  let bytes = 0
  for (const event of events) {
    const size = sizeOf(event)
    if (bytes > 0 && bytes + size > fragmentBytes) {
      pieces.push([])
      bytes = 0
    }
    pieces.at(-1)?.push(event)
    bytes += size
  }
  return pieces
}

/** About the size of an event in a message. */
const sizeOf = ({ kv, prevKv }: WireEvent): number =>
  64 + (kv?.key?.length ?? 0) + (kv?.value?.length ?? 0) + (prevKv?.key?.length ?? 0) + (prevKv?.value?.length ?? 0)
