// Informer: the present objects of one kind, kept up to date by list and watch. It resumes after a break, and lists
// again when the server has forgotten its revision. Readers use its cache, never the network.
import type { Clock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import { causeOf, type Cause, type FlowId } from '../../base/observability/flow-recorder.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { backoffMs, type Backoff } from '../../base/work/work-queue.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { keyOf, namespaceOf, revisionOf, type ApiObject, type ObjectKey } from '../../api/meta/object.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { ListOptions, ResourceClient, TypedEvent } from '../client.ts'

export interface ObjectChange<T> {
  readonly key: ObjectKey
  readonly now: T | undefined
  readonly before: T | undefined
  readonly cause: Cause
}

/** Sorts objects into groups; `objects(index, group)` finds them again at once. */
export type IndexFunction<T> = (object: T) => readonly string[]

/** The objects of each group. */
interface Index<T> {
  readonly indexer: IndexFunction<T>
  readonly groups: Map<string, Map<ObjectKey, T>>
}

export interface InformerDeps {
  readonly clock: Clock
  readonly log: Log
}

type ListWatchClient<T extends ApiObject> = Pick<ResourceClient<T, unknown>, 'list' | 'watchBatches'>

const retryBackoff: Backoff = { initialMs: 100, maxMs: 30_000 }

export class Informer<T extends ApiObject = ApiObject> {
  readonly kind: Kind<T>
  readonly #client: ListWatchClient<T>
  readonly #options: ListOptions
  readonly #deps: InformerDeps
  readonly #objects = new Map<ObjectKey, T>()
  readonly #indices = new Map<string, Index<T>>()
  readonly #handlers: ((change: ObjectChange<T>) => void)[] = []
  readonly #synced = Promise.withResolvers<void>()
  #revision = 0
  #isSynced = false

  constructor(kind: Kind<T>, client: ListWatchClient<T>, deps: InformerDeps, options: ListOptions = {}) {
    this.kind = kind
    this.#client = client
    this.#options = options
    this.#deps = deps
  }

  /** Everything up to this revision has been seen. */
  get revision(): number {
    return this.#revision
  }

  get isSynced(): boolean {
    return this.#isSynced
  }

  /** Resolves when the first list is in. */
  get synced(): Promise<void> {
    return this.#synced.promise
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(key)
  }

  all(): IterableIterator<T> {
    return this.#objects.values()
  }

  addIndex(name: string, indexer: IndexFunction<T>): void {
    if (this.#indices.has(name)) return
    const index: Index<T> = { indexer, groups: new Map() }
    this.#indices.set(name, index)
    for (const [key, object] of this.#objects) updateIndex(index, key, undefined, object)
  }

  byIndex(index: string, group: string): T[] {
    const members = this.#indices.get(index)?.groups.get(group)
    return members === undefined ? [] : [...members.values()]
  }

  /** Calls back for every change, beginning with the objects that are there. Before run(), or soon after. */
  onChange(handler: (change: ObjectChange<T>) => void): void {
    this.#handlers.push(handler)
    for (const [key, now] of this.#objects) handler({ key, now, before: undefined, cause: causeOfObject(now) })
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    let mustList = true
    for (let failures = 0; !signal.aborted;) {
      try {
        if (mustList) await this.#list(signal)
        mustList = false
        await this.#watch(signal)
        failures = 0
      } catch (error) {
        if (signal.aborted) return
        mustList = mustList || (error instanceof StatusError && error.code === 410)
        if (mustList && error instanceof StatusError && error.code === 410) continue
        log.debug('a watch broke', { resource: this.kind.plural, error: errorText(error) })
        await clock.sleep(backoffMs(retryBackoff, failures++), signal)
      }
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { items, revision } = await this.#client.list(this.#options, context(signal))
    if (this.#objects.size > 0) this.#removeAllExcept(new Set(items.map(keyOf)), revision)
    for (const object of items) {
      const key = keyOf(object)
      if (this.#objects.get(key)?.metadata.resourceVersion !== object.metadata.resourceVersion)
        this.#apply(key, object, causeOfObject(object))
    }
    this.#revision = revision
    this.#isSynced = true
    this.#synced.resolve()
  }

  #removeAllExcept(present: ReadonlySet<ObjectKey>, revision: number): void {
    for (const key of [...this.#objects.keys()])
      if (!present.has(key)) this.#apply(key, undefined, causeOf(0 as FlowId, revision))
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const options = { ...this.#options, resourceVersion: String(this.#revision) }
    for await (const events of this.#client.watchBatches(options, context(signal)))
      for (const event of events) this.#applyEvent(event)
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
    const before = this.#objects.get(key)
    if (now === undefined) this.#objects.delete(key)
    else this.#objects.set(key, now)
    for (const index of this.#indices.values()) updateIndex(index, key, before, now)
    const change = { key, now, before, cause }
    for (const handler of this.#handlers) handler(change)
  }
}

function updateIndex<T>(
  { indexer, groups }: Index<T>,
  key: ObjectKey,
  before: T | undefined,
  now: T | undefined,
): void {
  const left = before === undefined ? none : indexer(before)
  const found = now === undefined ? none : indexer(now)
  for (const group of left) {
    // Most changes leave an object in its groups: there it is replaced.
    if (found.includes(group)) continue
    const members = groups.get(group)
    members?.delete(key)
    if (members?.size === 0) groups.delete(group)
  }
  if (now !== undefined) for (const group of found) getOrInsert(groups, group, newMembers<T>).set(key, now)
}

const none: readonly string[] = []
const newMembers = <T>(): Map<ObjectKey, T> => new Map()

const causeOfObject = (object: ApiObject): Cause => causeOf(0 as FlowId, revisionOf(object))

export const byNamespace = (object: ApiObject): string[] => [namespaceOf(object)]
export const byOwnerUid = (object: ApiObject): string[] => (object.metadata.ownerReferences ?? []).map(({ uid }) => uid)
