// WatchCache: the present state of one kind and its recent history, fed by the store's watch. It serves GET, LIST and
// WATCH. The state is a persistent map, so a list at an exact recent revision is cheap.
import { Channel } from '../../base/async/channel.ts'
import { every, type Clock } from '../../base/time/clock.ts'
import { causeOf, type Cause, type FlowObject, type FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { OrderedMap, prefixEnd } from '../../base/collections/ordered-map.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { objectKey, type ApiObject } from '../../api/meta/object.ts'
import { StatusError, tooOldResourceVersion } from '../../api/errors/status-error.ts'
import { Arena } from '../storage/arena.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { newCacheCounts } from './cache-counts.ts'
import { FieldIndex } from './field-index.ts'
import type { CacheObserver } from './object-caches.ts'
import type { Selection } from './selection.ts'
import type { WatchEvent } from './watch-event.ts'
import { WatcherIndex } from './watcher-index.ts'

/** How many changes of one kind watches can resume from. */
const historyChangesMax = 5_000
/** The history is trimmed when it is this much longer. */
const historyChangesOver = 1_000
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
/**
 * Each change is compared with the selectors of all watches, so the long ones of one owner are limited. Controllers and
 * nodes have short ones.
 */
const longSelectorCharsMin = 128
export const longSelectorsCharsMax = 256 << 10
const bookmarkMs = 60_000
/** As upstream: a watch sends a last bookmark this long before its timeout, for the next one to resume from. */
const finalBookmarkMs = 2_000
const freshnessMsMax = 3_000
/** As many objects are measured for an estimate of the size of all. */
const measuredObjectsMax = 16

export interface Change {
  readonly revision: number
  readonly key: string
  readonly now: StoredObject | undefined
  readonly before: StoredObject | undefined
}

/** What is sent of a version, computed once for all watchers. */
interface Delivery {
  readonly stored: StoredObject
  readonly subject: FlowObject
  readonly write: Cause
}

/** The deliveries of one change, computed for its first watcher. */
interface SharedDeliveries {
  now?: Delivery
  /** The version in the event of a deletion. */
  gone?: Delivery
}

interface Watcher {
  readonly sender: string
  readonly selection: Selection
  readonly channel: Channel<WatchEvent>
  readonly withBefore: boolean
  /** Changes up to this revision are not sent. It may lie in the future. */
  readonly after: number
}

/** The last list, while nothing has changed: admission plugins list the same few objects with every write. */
interface CachedList {
  readonly state: OrderedMap<StoredObject>
  readonly namespace: string
  readonly objects: readonly ApiObject[]
}
const cachedListMax = 100
const noObjects: readonly ApiObject[] = []

interface Waiter {
  readonly revision: number
  readonly resolve: () => void
  readonly reject: (error: StatusError) => void
}

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

/** The owner of a watch has too many long selectors. */
export class SelectorsTooLong extends StatusError {
  constructor() {
    super(429, 'TooManyRequests', 'the selectors of the watches of this user are too long', { retryAfterSeconds: 1 })
  }
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
  readonly #kindSubject: FlowObject
  readonly #watchers: WatcherIndex<Watcher>
  /** The characters of long selectors, by the owner of their watches. */
  readonly #selectorChars = new Map<string, number>()
  readonly #observers: CacheObserver[] = []
  readonly #fields: FieldIndex
  /** For the versions of kinds that are rarely read. */
  readonly #arena = new Arena()
  #state = OrderedMap.empty<StoredObject>()
  /** The same state as a hash map, for reads of single objects. */
  readonly #present = new Map<string, StoredObject>()
  /** In the order of revisions. */
  #history: Change[] = []
  /** The past state that was computed last: the pages of a list read the same one. */
  #pastState: { readonly changes: number; readonly state: OrderedMap<StoredObject> } | undefined
  #revision = 0
  /** Watches can resume after this revision; older history has been dropped. */
  #oldestRevision = 0
  #waiters: Waiter[] = []
  readonly #objectWaiters = new Set<ObjectWaiter>()
  #cachedList: CachedList | undefined
  #estimate = { revision: 0, bytes: 0 }

  constructor(kind: Kind, deps: WatchCacheDeps) {
    this.kind = kind
    this.#deps = deps
    this.#kindSubject = { resource: kind.plural, namespace: '', name: '' }
    this.#watchers = new WatcherIndex(kind)
    this.#fields = new FieldIndex(kind)
  }

  /** The oldest revision of which the state can be read. */
  get oldestRevision(): number {
    return this.#oldestRevision
  }

  /** The retained changes, in the order of revisions. */
  get changes(): readonly Change[] {
    return this.#history
  }

  get watchers(): number {
    return this.#watchers.size
  }

  /** The watches that a change of this object concerns. Those that select by a field are not counted. */
  watchersOf(namespace: string, name: string): number {
    return this.#watchers.countOf(namespace, name)
  }

  get revision(): number {
    return this.#revision
  }

  get size(): number {
    return this.#state.size
  }

  /** The bytes of all objects in the store, extrapolated from some of them. */
  get estimatedBytes(): number {
    if (this.#estimate.revision !== this.#revision) {
      const stride = Math.ceil(this.size / measuredObjectsMax)
      let [index, measured, bytes] = [0, 0, 0]
      for (const stored of this.#present.values()) {
        if (index++ % stride !== 0) continue
        measured++
        bytes += stored.storedBytes
      }
      this.#estimate = {
        revision: this.#revision,
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
    if (revision === undefined || revision === this.#revision) return this.#state
    if (revision < this.#oldestRevision) throw tooOldResourceVersion(revision, this.#oldestRevision)
    return this.#stateAfter(this.#firstAfter(revision))
  }

  /** The state after this many changes of the history: the present one with the later changes undone. */
  #stateAfter(changes: number): OrderedMap<StoredObject> {
    const known = this.#pastState
    const isNear = known !== undefined && known.changes >= changes
    let [state, left] = isNear ? [known.state, known.changes] : [this.#state, this.#history.length]
    for (; left > changes; left--) {
      const { key, before } = this.#history[left - 1] as Change
      state = state.with(key, before)
    }
    this.#pastState = { changes, state }
    return state
  }

  /** The index of the first change after a revision. */
  #firstAfter(revision: number): number {
    let [low, high] = [0, this.#history.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#history[middle]?.revision ?? Infinity) <= revision) low = middle + 1
      else high = middle
    }
    return low
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
    this.#history = []
    this.#pastState = undefined
    this.#oldestRevision = revision
    for (const { channel } of [...this.#watchers]) channel.end(error)
    // Readers that need a later state wait until the changes have been applied again.
    this.#revision = 0
    this.#advance(revision)
  }

  /** Ends all watches. Clients connect to another server. */
  close(): void {
    for (const { channel } of [...this.#watchers]) channel.end()
  }

  /** The cache gets no more changes, because the definition of its kind has changed. Clients try again. */
  retire(): void {
    this.close()
    const retired = new StatusError(429, 'TooManyRequests', 'storage is (re)initializing', { retryAfterSeconds: 1 })
    for (const waiter of this.#waiters) waiter.reject(retired)
  }

  /** Applies the changes of one revision. */
  apply(changes: readonly Change[]): void {
    this.counts.received += changes.length
    for (const change of changes) {
      this.#put(change)
      this.#notifyObservers(change.now, change.before)
      this.#history.push(change)
      change.before?.age()
      this.#settle(this.#history.at(-1 - historyBytesChangesMax)?.now)
      for (const waiter of this.#objectWaiters) if (waiter.key === change.key) waiter.resolve()
      const concerned = this.#watchers.watchersFor(change.now?.object, change.before?.object)
      if (concerned.length === 0) {
        if (this.#isRarelyRead) this.#settle(this.#history.at(-1 - answersMax)?.now)
        continue
      }
      const shared: SharedDeliveries = {}
      for (const watcher of concerned) this.#deliver(watcher, change, shared)
    }
    if (this.#history.length > historyChangesMax + historyChangesOver)
      this.#trimHistory(this.#history.length - historyChangesMax)
  }

  /** Objects that expire are sent to watchers once and rarely read after that. */
  get #isRarelyRead(): boolean {
    return this.kind.ttlMs !== undefined
  }

  #settle(stored: StoredObject | undefined): void {
    if (this.#isRarelyRead) stored?.offload(this.#arena)
    else stored?.age()
  }

  #put({ key, now, before }: Change): void {
    this.#state = this.#state.with(key, now)
    this.#fields.changed(key, now, before)
    if (now === undefined) this.#present.delete(key)
    else this.#present.set(key, now)
  }

  // Changes of one revision are dropped together, because no state exists between them.
  #trimHistory(count: number): void {
    const revision = this.#history[count - 1]?.revision ?? 0
    const cut = this.#firstAfter(revision)
    this.#history = this.#history.slice(cut)
    this.#pastState = undefined
    this.#oldestRevision = revision
  }

  /** All changes up to this revision have been applied, whether or not they concern this kind. */
  progress(revision: number): void {
    this.#advance(revision)
  }

  /** Resolves when the cache has reached the revision. A revision that does not come is an error of the client. */
  async waitForRevision(revision: number, signal: AbortSignal): Promise<void> {
    if (this.#revision >= revision) return
    const reached = Promise.withResolvers<void>()
    const waiter = { revision, resolve: reached.resolve, reject: reached.reject }
    const tooLate = () =>
      reached.reject(
        new StatusError(
          504,
          'Timeout',
          `Timeout: Too large resource version: ${revision}, current: ${this.#revision}`,
          {
            causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
            retryAfterSeconds: 1,
          },
        ),
      )
    const { clock, waited } = this.#deps
    const startMs = clock.monotonicMs()
    const timer = clock.after(freshnessMsMax, tooLate)
    const stop = () => reached.reject(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true })
    this.#waiters.push(waiter)
    try {
      await reached.promise
    } finally {
      timer.cancel()
      signal.removeEventListener('abort', stop)
      this.#waiters = this.#waiters.filter((other) => other !== waiter)
      waited?.(this.kind, (clock.monotonicMs() - startMs) / 1000)
    }
  }

  watch(request: WatchRequest, signal: AbortSignal): Channel<WatchEvent> {
    const { from, selection, sender } = request
    const after = typeof from === 'object' ? from.revision : from === 'now' ? 0 : from
    if (from !== 'now' && after < this.#oldestRevision) throw tooOldResourceVersion(after, this.#oldestRevision)
    const releaseSelector = this.#reserveSelector(request)
    const past = from === 'now' ? [] : this.#history.slice(this.#firstAfter(after))
    const initial = typeof from === 'object' ? from.selected : from === 'now' ? this.#selected(selection) : []
    const channel: Channel<WatchEvent> = new Channel(watchBufferEventsMax + initial.length + past.length, () => {
      this.#watchers.delete(watcher)
      releaseSelector()
      bookmarks?.cancel()
      finalBookmark?.cancel()
      end?.cancel()
    })
    const watcher: Watcher = { sender, selection, channel, withBefore: request.withBefore ?? false, after }
    const bookmark = (initialEventsEnd: boolean) => this.#bookmark(watcher, initialEventsEnd)
    this.counts.initialEvents += initial.length
    for (const stored of initial) this.#push(watcher, 'ADDED', this.#deliveryOf(stored))
    for (const change of past) this.#deliver(watcher, change, {})
    if (request.initialEventsEnd) bookmark(true)
    const bookmarks = request.bookmarks ? every(this.#deps.clock, bookmarkMs, () => bookmark(false)) : undefined
    const { timeoutMs } = request
    const finalBookmark =
      request.bookmarks && timeoutMs !== undefined && timeoutMs > finalBookmarkMs
        ? this.#deps.clock.after(timeoutMs - finalBookmarkMs, () => bookmark(false))
        : undefined
    const end = timeoutMs === undefined ? undefined : this.#deps.clock.after(timeoutMs, () => channel.end())
    this.#watchers.add(watcher)
    return channel.endOnAbort(signal)
  }

  /** Throws where the owner has too many long selectors already. */
  #reserveSelector({ owner, selectorChars = 0 }: WatchRequest): () => void {
    if (owner === undefined || selectorChars < longSelectorCharsMin) return () => {}
    const change = (chars: number) => {
      const next = (this.#selectorChars.get(owner) ?? 0) + chars
      if (next > longSelectorsCharsMax) throw new SelectorsTooLong()
      if (next === 0) this.#selectorChars.delete(owner)
      else this.#selectorChars.set(owner, next)
    }
    change(selectorChars)
    return () => change(-selectorChars)
  }

  #advance(revision: number): void {
    this.#revision = Math.max(this.#revision, revision)
    if (this.#waiters.length === 0) return
    for (const waiter of this.#waiters) if (waiter.revision <= this.#revision) waiter.resolve()
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

  #deliveryOf(stored: StoredObject): Delivery {
    const { metadata } = stored.object
    const { revision } = stored
    return {
      stored,
      subject: { resource: this.kind.plural, namespace: metadata.namespace ?? '', name: metadata.name },
      write: causeOf(this.#deps.flow.writeOf(revision), revision),
    }
  }

  #notifyObservers(now: StoredObject | undefined, before: StoredObject | undefined): void {
    for (const observer of this.#observers) observer.changed(now?.object, before?.object)
  }

  // An object that starts or stops matching the selection is added or deleted for the watcher.
  #deliver(watcher: Watcher, { now, before, revision }: Change, shared: SharedDeliveries): void {
    const { selection, after } = watcher
    if (revision <= after) return
    const matched = before !== undefined && selection.matches(before.object)
    if (now !== undefined && selection.matches(now.object))
      this.#push(
        watcher,
        matched ? 'MODIFIED' : 'ADDED',
        (shared.now ??= this.#deliveryOf(now)),
        matched && watcher.withBefore ? before : undefined,
      )
    else if (matched) this.#push(watcher, 'DELETED', (shared.gone ??= this.#deliveryOf(before.atRevision(revision))))
  }

  #push(
    watcher: Watcher,
    type: 'ADDED' | 'MODIFIED' | 'DELETED',
    { stored, subject, write }: Delivery,
    before?: StoredObject,
  ): void {
    this.counts.dispatched++
    const { flow } = this.#deps
    const delivery = flow.record('watch', 'API Server', watcher.sender, type, subject, stored.revision, write)
    const cause = { ...write, event: delivery }
    this.#send(watcher, before === undefined ? { type, stored, cause } : { type, stored, cause, before })
  }

  #bookmark(watcher: Watcher, initialEventsEnd: boolean): void {
    this.#record(watcher.sender, 'BOOKMARK')
    this.#send(watcher, { type: 'BOOKMARK', revision: this.#revision, initialEventsEnd })
  }

  #send({ channel, sender }: Watcher, event: WatchEvent): void {
    channel.push(event)
    // A channel that has ended here has just overflowed, because its reader is too far behind.
    if (channel.ended) this.#record(sender, 'cut off')
  }

  /** Records an event of the watch itself. */
  #record(watcher: string, what: string): void {
    this.#deps.flow.record('watch', 'API Server', watcher, what, this.#kindSubject, this.#revision)
  }
}
