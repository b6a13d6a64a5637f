// WatchCache: the present state of one kind and its recent history, fed by the store's watch. It serves GET, LIST and
// WATCH. The state is a persistent map, so a list at an exact recent revision is cheap.
import { Channel } from '../../base/async/channel.ts'
import { every, type Clock } from '../../base/time/clock.ts'
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { OrderedMap, prefixEnd } from '../../base/collections/ordered-map.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { objectKey, type ApiObject } from '../../api/meta/object.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { Arena } from '../storage/arena.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { newCacheCounts } from './cache-counts.ts'
import { ChangeHistory, historyChangesMax, type Change } from './change-history.ts'
import { EventDispatcher, type Watcher } from './event-dispatcher.ts'
import { FieldIndex } from './field-index.ts'
import type { FeedProgress } from './feed-progress.ts'
import type { CacheObserver } from './object-caches.ts'
import { RevisionWaiters } from './revision-waiters.ts'
import type { Selection } from './selection.ts'
import { SelectorLimit } from './selector-limit.ts'
import type { WatchEvent } from './watch-event.ts'

/**
 * As many of the newest changes keep their encodings. Watches rarely resume from older ones, which are encoded again.
 */
const historyBytesChangesMax = 200
/** The writer of one of the newest changes may still be waiting for its response. */
const answersMax = 64
/** The watch of a client that is further behind is ended. */
const watchBufferEventsMax = 10_000
/** Above this share of all objects, a field index does not help: sorting its result takes longer than visiting all. */
const selectedShareMax = 0.1
const bookmarkMs = 60_000
/** As upstream: a watch sends a last bookmark this long before its timeout, for the next one to resume from. */
const finalBookmarkMs = 2_000
/** As many objects are measured for an estimate of the size of all. */
const measuredObjectsMax = 16

/** The last list, while nothing has changed: admission plugins list the same few objects with every write. */
interface CachedList {
  readonly state: OrderedMap<StoredObject>
  readonly namespace: string
  readonly objects: readonly ApiObject[]
}
const cachedListMax = 100
const noObjects: readonly ApiObject[] = []

/** A wait for an object that does not exist yet. */
interface ObjectWaiter {
  readonly key: string
  readonly resolve: () => void
}

export interface WatchCacheDeps {
  readonly clock: Clock
  readonly flow: FlowRecorder
  /** Called with the time that a read has waited for its revision. */
  readonly waited?: (kind: Kind, seconds: number) => void
}

/** What a watch sends first: the objects that a selection has at a revision. */
export interface InitialState {
  readonly revision: number
  readonly selected: readonly StoredObject[]
}

export interface WatchRequest {
  readonly selection: Selection
  /**
   * `now` sends the present state first. A number resumes after that revision, which may lie in the future. A state is sent,
   * and then the changes after it.
   */
  readonly from: 'now' | number | InitialState
  readonly bookmarks: boolean
  readonly initialEventsEnd: boolean
  readonly sender: string
  /** Whom the limit of long selectors applies to; left out for components of this process. */
  readonly owner?: string | undefined
  /** The length of the request's selectors, which is not that of the selection where objects are converted first. */
  readonly selectorChars?: number
  readonly timeoutMs: number | undefined
  /** Whether events have the version before a modification, for watches that select in another version. */
  readonly withBefore?: boolean
}

export class WatchCache {
  readonly kind: Kind
  readonly counts = newCacheCounts()
  /** The number of changes that watches can resume from. */
  readonly capacity = historyChangesMax
  readonly #deps: WatchCacheDeps
  readonly #history = new ChangeHistory()
  readonly #dispatcher: EventDispatcher
  readonly #selectorLimit = new SelectorLimit()
  readonly #revisionWaiters: RevisionWaiters
  readonly #observers: CacheObserver[] = []
  readonly #fields: FieldIndex
  /** For the versions of kinds that are rarely read. */
  readonly #arena = new Arena()
  #state = OrderedMap.empty<StoredObject>()
  /** The same state as a hash map, for reads of single objects. */
  readonly #present = new Map<string, StoredObject>()
  /** That of the feed counts where it is later. */
  #ownRevision = 0
  /** Undefined until the cache has been filled. */
  #feed: FeedProgress | undefined
  readonly #objectWaiters = new Set<ObjectWaiter>()
  #cachedList: CachedList | undefined
  #estimate = { revision: 0, bytes: 0 }

  constructor(kind: Kind, deps: WatchCacheDeps) {
    this.kind = kind
    this.#deps = deps
    const { clock, flow } = deps
    this.#dispatcher = new EventDispatcher(kind, { flow, counts: this.counts, revision: () => this.revision })
    this.#revisionWaiters = new RevisionWaiters(clock)
    this.#fields = new FieldIndex(kind)
  }

  /** The oldest revision of which the state can be read. */
  get oldestRevision(): number {
    return this.#history.oldestRevision
  }

  /** The retained changes, in the order of revisions. */
  get changes(): readonly Change[] {
    return this.#history.changes
  }

  get watchers(): number {
    return this.#dispatcher.size
  }

  /** The watches that a change of this object concerns. Those that select by a field are not counted. */
  watchersOf(namespace: string, name: string): number {
    return this.#dispatcher.countOf(namespace, name)
  }

  get revision(): number {
    return this.#feed === undefined ? this.#ownRevision : Math.max(this.#ownRevision, this.#feed.revision)
  }

  get size(): number {
    return this.#state.size
  }

  /** The bytes of all objects in the store, extrapolated from some of them. */
  get estimatedBytes(): number {
    if (this.#estimate.revision !== this.revision) {
      const stride = Math.ceil(this.size / measuredObjectsMax)
      let index = 0
      let measured = 0
      let bytes = 0
      for (const stored of this.#present.values()) {
        if (index++ % stride !== 0) continue
        measured++
        bytes += stored.storedBytes
      }
      this.#estimate = {
        revision: this.revision,
        bytes: measured === 0 ? 0 : Math.round((bytes / measured) * this.size),
      }
    }
    return this.#estimate.bytes
  }

  get(key: string): StoredObject | undefined {
    return this.#present.get(key)
  }

  /** The objects of one namespace, or of all with ''. */
  objects(namespace: string): readonly ApiObject[] {
    if (this.#state.size === 0) return noObjects
    if (this.#cachedList?.state === this.#state && this.#cachedList.namespace === namespace)
      return this.#cachedList.objects
    const prefix = objectKey(namespace, '')
    const found = namespace === '' ? this.#state.range('', '') : this.#state.range(prefix, prefixEnd(prefix))
    const objects = [...found].map(([, { object }]) => object)
    if (objects.length <= cachedListMax) this.#cachedList = { state: this.#state, namespace, objects }
    return objects
  }

  /** Waits until the object exists; undefined where it does not in time. */
  async waitForObject(key: string, withinMs: number, signal: AbortSignal): Promise<ApiObject | undefined> {
    const found = this.get(key)
    if (found !== undefined) return found.object
    const ended = Promise.withResolvers<void>()
    const waiter = { key, resolve: () => ended.resolve() }
    const timer = this.#deps.clock.after(withinMs, ended.resolve)
    signal.addEventListener('abort', waiter.resolve, { once: true })
    this.#objectWaiters.add(waiter)
    try {
      await ended.promise
    } finally {
      timer.cancel()
      signal.removeEventListener('abort', waiter.resolve)
      this.#objectWaiters.delete(waiter)
    }
    return this.get(key)?.object
  }

  /** Whether every object is read as soon as it is in the cache. */
  get isObserved(): boolean {
    return this.#observers.length > 0
  }

  observe(observer: CacheObserver): void {
    this.#observers.push(observer)
  }

  /** The present state, or that of a revision in the history. */
  stateAt(revision: number | undefined): OrderedMap<StoredObject> {
    if (revision === undefined || revision === this.revision) return this.#state
    return this.#history.stateAt(revision, this.#state)
  }

  /**
   * Starts again from the state at a revision, which may lie before the present one: the changes since then follow. As
   * upstream, watches end without an error: their clients watch again from the last revision that they have seen. Where the
   * store has lost revisions that clients have seen, `error` makes them list again.
   */
  reset(
    revision: number,
    entries: readonly (readonly [key: string, stored: StoredObject])[],
    error?: StatusError,
  ): void {
    this.counts.initializations++
    const before = new Map(this.#present)
    this.#state = OrderedMap.from(entries)
    this.#fields.clear()
    this.#present.clear()
    for (const [key, stored] of entries) this.#present.set(key, stored)
    for (const [key, stored] of before) if (!this.#present.has(key)) this.#notifyObservers(undefined, stored)
    for (const [key, stored] of entries) this.#notifyObservers(stored, before.get(key))
    this.#history.reset(revision)
    this.#dispatcher.endAll(error)
    // Readers that need a later state wait until the changes have been applied again.
    this.#feed = undefined
    this.#ownRevision = 0
    this.progress(revision)
  }

  /** Ends all watches. Clients connect to another server. */
  close(): void {
    this.#dispatcher.endAll()
  }

  /** The cache gets no more changes, because the definition of its kind has changed. Clients try again. */
  retire(): void {
    this.#ownRevision = this.revision
    this.#feed = undefined
    this.close()
    const retired = new StatusError(429, 'TooManyRequests', 'storage is (re)initializing', { retryAfterSeconds: 1 })
    this.#revisionWaiters.reject(retired)
  }

  /** Applies the changes of one revision. */
  apply(changes: readonly Change[]): void {
    this.counts.received += changes.length
    for (const change of changes) {
      this.#put(change)
      this.#notifyObservers(change.now, change.before)
      this.#history.append(change)
      change.before?.age()
      this.#shrink(this.#history.changes.at(-1 - historyBytesChangesMax)?.now)
      for (const waiter of this.#objectWaiters) if (waiter.key === change.key) waiter.resolve()
      if (this.#dispatcher.dispatch(change) === 0 && this.#isRarelyRead)
        this.#shrink(this.#history.changes.at(-1 - answersMax)?.now)
    }
    this.#history.trim()
  }

  /** Drops the changes up to a revision from the history. */
  dropHistory(revision: number): void {
    for (const { now } of this.#history.drop(revision)) this.#shrink(now)
  }

  /** Objects that expire are sent to watchers once and rarely read after that. */
  get #isRarelyRead(): boolean {
    return this.kind.ttlMs !== undefined
  }

  #shrink(stored: StoredObject | undefined): void {
    if (this.#isRarelyRead) stored?.offload(this.#arena)
    else stored?.age()
  }

  #put({ key, now, before }: Change): void {
    this.#state = this.#state.with(key, now)
    this.#fields.changed(key, now, before)
    if (now === undefined) this.#present.delete(key)
    else this.#present.set(key, now)
  }

  /** All changes up to this revision have been applied, whether or not they concern this kind. */
  progress(revision: number): void {
    this.#ownRevision = Math.max(this.#ownRevision, revision)
    this.#revisionWaiters.advance(this.revision)
  }

  /** The cache has been filled: from now on it has what its feed has applied. */
  follow(feed: FeedProgress): void {
    this.#feed = feed
    this.#revisionWaiters.advance(this.revision)
    if (this.#revisionWaiters.size > 0) feed.notify(this.#revisionWaiters)
  }

  /** Resolves when the cache has reached the revision. A revision that does not come is an error of the client. */
  async waitForRevision(revision: number, signal: AbortSignal): Promise<void> {
    if (this.revision >= revision) return
    const { clock, waited } = this.#deps
    const startMs = clock.monotonicMs()
    try {
      const reached = this.#revisionWaiters.wait(revision, () => this.revision, signal)
      this.#feed?.notify(this.#revisionWaiters)
      await reached
    } finally {
      waited?.(this.kind, (clock.monotonicMs() - startMs) / 1000)
    }
  }

  watch(request: WatchRequest, signal: AbortSignal): Channel<WatchEvent> {
    const { from, selection, sender, timeoutMs } = request
    const after = typeof from === 'object' ? from.revision : from === 'now' ? 0 : from
    const past = from === 'now' ? [] : this.#history.after(after)
    const releaseSelector = this.#selectorLimit.reserve(request.owner, request.selectorChars ?? 0)
    const initial = typeof from === 'object' ? from.selected : from === 'now' ? this.#selected(selection) : []
    const channel: Channel<WatchEvent> = new Channel(watchBufferEventsMax + initial.length + past.length, () => {
      this.#dispatcher.delete(watcher)
      releaseSelector()
      bookmarks?.cancel()
      finalBookmark?.cancel()
      end?.cancel()
    })
    const watcher: Watcher = { sender, selection, channel, withBefore: request.withBefore ?? false, after }
    const bookmark = (initialEventsEnd: boolean) => this.#dispatcher.bookmark(watcher, initialEventsEnd)
    this.#dispatcher.sendInitial(watcher, initial)
    this.#dispatcher.sendPast(watcher, past)
    if (request.initialEventsEnd) bookmark(true)
    const bookmarks = request.bookmarks ? every(this.#deps.clock, bookmarkMs, () => bookmark(false)) : undefined
    const finalBookmark =
      request.bookmarks && timeoutMs !== undefined && timeoutMs > finalBookmarkMs
        ? this.#deps.clock.after(timeoutMs - finalBookmarkMs, () => bookmark(false))
        : undefined
    const end = timeoutMs === undefined ? undefined : this.#deps.clock.after(timeoutMs, () => channel.end())
    this.#dispatcher.add(watcher)
    return channel.endOnAbort(signal)
  }

  #selected(selection: Selection): StoredObject[] {
    const { namespace } = selection
    const prefix = namespace === '' ? '' : `${namespace}/`
    const found: StoredObject[] = []
    for (const [, stored] of this.candidates(selection, prefix, prefix === '' ? '' : prefixEnd(prefix)))
      if (!selection.isFiltered || selection.matches(stored.object)) found.push(stored)
    return found
  }

  /** Candidates for a selection between two keys, ordered; an empty end means no end. */
  candidates({ exactField }: Selection, start: string, end: string): Iterable<[key: string, stored: StoredObject]> {
    if (exactField === undefined) return this.#state.range(start, end)
    const found = this.#fields.select(exactField.key, exactField.value, this.#state.range('', ''))
    if (found.size > this.#state.size * selectedShareMax) return this.#state.range(start, end)
    const wanted = [...found].filter(([key]) => key >= start && (end === '' || key < end))
    return wanted.toSorted(([one], [other]) => (one < other ? -1 : 1))
  }

  #notifyObservers(now: StoredObject | undefined, before: StoredObject | undefined): void {
    for (const observer of this.#observers) observer.changed(now?.object, before?.object)
  }
}
