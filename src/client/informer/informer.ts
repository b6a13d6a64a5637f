// Informer: a cache of the objects of one kind, kept up to date by list and watch. A watch that ends is resumed from the
// last revision; a revision that the server no longer has (410) means a new list. Readers use the cache, not the network.
import type { Clock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import { causeOf, type Cause, type FlowId } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import { WorkSlice } from '../../base/work/work-slice.ts'
import type { ResourceType } from '../../api/kind/kind.ts'
import { keyOf, namespaceOf, revisionOf, type ApiObject, type ObjectKey } from '../../api/meta/object.ts'
import type { ListOptions, ResourceClient, TypedEvent } from '../client.ts'
import { ObjectCache, type IndexFunction } from './object-cache.ts'
import { isExpired, listAllPages } from './paged-list.ts'
import { RetryBackoff } from './retry-backoff.ts'

export interface ObjectChange<T> {
  readonly key: ObjectKey
  readonly now: T | undefined
  readonly before: T | undefined
  readonly cause: Cause
}

export interface InformerDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

/**
 * The share of the time that handlers of a list have while other work makes the turns of the event loop long. With slices of a
 * fixed length they would take so many turns that the list is too old to watch from it, and the next one as well.
 */
const listShare = 0.2

type ListWatchClient<T extends ApiObject> = Pick<ResourceClient<T, unknown>, 'list' | 'watchBatches'>

export class Informer<T extends ApiObject = ApiObject> {
  readonly kind: ResourceType<T>
  readonly #client: ListWatchClient<T>
  readonly #options: ListOptions
  readonly #deps: InformerDeps
  readonly #cache = new ObjectCache<T>()
  readonly #handlers: ((change: ObjectChange<T>) => void)[] = []
  readonly #backoff: RetryBackoff
  readonly #synced = Promise.withResolvers<void>()
  #revision = 0
  #isSynced = false

  constructor(kind: ResourceType<T>, client: ListWatchClient<T>, deps: InformerDeps, options: ListOptions = {}) {
    this.kind = kind
    this.#client = client
    this.#options = options
    this.#deps = deps
    this.#backoff = new RetryBackoff(deps.random.fork(`informer ${kind.plural}`))
  }

  /** The cache contains every change up to this revision. */
  get revision(): number {
    return this.#revision
  }

  get isSynced(): boolean {
    return this.#isSynced
  }

  /** Resolves after the first list: never, if it is stopped before. */
  get synced(): Promise<void> {
    return this.#synced.promise
  }

  get(key: ObjectKey): T | undefined {
    return this.#cache.get(key)
  }

  all(): IterableIterator<T> {
    return this.#cache.values()
  }

  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    this.#cache.addIndex(name, valuesOf)
  }

  byIndex(name: string, value: string): T[] {
    return this.#cache.byIndex(name, value)
  }

  /** Calls back for every change, beginning with the cached objects. */
  onChange(handler: (change: ObjectChange<T>) => void): void {
    this.#handlers.push(handler)
    for (const [key, now] of this.#cache.entries()) handler({ key, now, before: undefined, cause: causeOfObject(now) })
  }

  /** Lists and watches until the signal is aborted. Every end of a watch, also a clean one, is followed by a backoff. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    let mustList = true
    while (!signal.aborted) {
      try {
        if (mustList) await this.#list(signal)
        mustList = false
        await this.#watch(signal)
      } catch (error) {
        if (signal.aborted) return
        mustList ||= isExpired(error)
        log.debug('a list or watch failed', { resource: this.kind.plural, error: errorText(error) })
      }
      if (signal.aborted) return
      await clock.sleep(this.#backoff.nextMs(), signal).catch(() => {}) // the loop checks the signal
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { items, revision } = await listAllPages(this.#client, this.#options, context(signal))
    if (this.#cache.size > 0) this.#removeAllExcept(new Set(items.map(keyOf)), revision)
    // After a restart a list may have tens of thousands of objects, each with several handlers.
    const { clock } = this.#deps
    const slice = new WorkSlice(clock)
    let untilMs = 0
    for (const object of items) {
      const key = keyOf(object)
      if (this.#cache.get(key)?.metadata.resourceVersion !== object.metadata.resourceVersion)
        this.#apply(key, object, causeOfObject(object))
      if (!slice.isUsedUp() || clock.monotonicMs() < untilMs) continue
      const sinceMs = clock.monotonicMs()
      await slice.next()
      untilMs = clock.monotonicMs() + (clock.monotonicMs() - sinceMs) * listShare
      signal.throwIfAborted()
    }
    this.#revision = revision
    this.#isSynced = true
    this.#synced.resolve()
  }

  #removeAllExcept(present: ReadonlySet<ObjectKey>, revision: number): void {
    const removed = [...this.#cache.entries()].filter(([key]) => !present.has(key))
    for (const [key] of removed) this.#apply(key, undefined, causeOf(0 as FlowId, revision))
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const options = { ...this.#options, resourceVersion: String(this.#revision) }
    for await (const events of this.#client.watchBatches(options, context(signal))) {
      if (events.length > 0) this.#backoff.reset()
      for (const event of events) this.#applyEvent(event)
    }
  }

  #applyEvent(event: TypedEvent<T>): void {
    if (event.type === 'BOOKMARK') {
      this.#revision = event.revision
      return
    }
    const { object, type, cause } = event
    this.#revision = revisionOf(object)
    this.#apply(keyOf(object), type === 'DELETED' ? undefined : object, cause)
  }

  #apply(key: ObjectKey, now: T | undefined, cause: Cause): void {
    const change = { key, now, before: this.#cache.replace(key, now), cause }
    for (const handler of this.#handlers) handler(change)
  }
}

const causeOfObject = (object: ApiObject): Cause => causeOf(0 as FlowId, revisionOf(object))

export const byNamespace = (object: ApiObject): string[] => [namespaceOf(object)]
export const byOwnerUid = (object: ApiObject): string[] => (object.metadata.ownerReferences ?? []).map(({ uid }) => uid)
