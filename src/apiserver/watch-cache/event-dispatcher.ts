// EventDispatcher: sends the changes of one kind to the watches that they concern, and records each delivery.
import type { Channel } from '../../base/async/channel.ts'
import { causeOf, type Cause, type FlowObject, type FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { StatusError } from '../../api/errors/status-error.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import type { CacheCounts } from './cache-counts.ts'
import type { Change } from './change-history.ts'
import type { Selection } from './selection.ts'
import type { WatchEvent } from './watch-event.ts'
import { WatcherIndex } from './watcher-index.ts'

export interface Watcher {
  readonly sender: string
  readonly selection: Selection
  readonly channel: Channel<WatchEvent>
  readonly withBefore: boolean
  /** Changes up to this revision are not sent. It may lie in the future. */
  readonly after: number
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

export interface DispatcherDeps {
  readonly flow: FlowRecorder
  readonly counts: CacheCounts
  /** The revision of the cache. */
  readonly revision: () => number
}

export class EventDispatcher {
  readonly #kind: Kind
  readonly #deps: DispatcherDeps
  readonly #kindSubject: FlowObject
  readonly #watchers: WatcherIndex<Watcher>

  constructor(kind: Kind, deps: DispatcherDeps) {
    this.#kind = kind
    this.#deps = deps
    this.#kindSubject = { resource: kind.plural, namespace: '', name: '' }
    this.#watchers = new WatcherIndex(kind)
  }

  get size(): number {
    return this.#watchers.size
  }

  /** The watches that a change of this object concerns. Those that select by a field are not counted. */
  countOf(namespace: string, name: string): number {
    return this.#watchers.countOf(namespace, name)
  }

  add(watcher: Watcher): void {
    this.#watchers.add(watcher)
  }

  delete(watcher: Watcher): void {
    this.#watchers.delete(watcher)
  }

  /** Ends all watches. */
  endAll(error?: StatusError): void {
    for (const { channel } of [...this.#watchers]) channel.end(error)
  }

  /** Sends a change to all watches that it may concern, and returns their number. */
  dispatch(change: Change): number {
    const concerned = this.#watchers.watchersFor(change.now?.object, change.before?.object)
    if (concerned.length === 0) return 0
    const shared: SharedDeliveries = {}
    for (const watcher of concerned) this.#deliver(watcher, change, shared)
    return concerned.length
  }

  /** Sends the objects that exist when a watch starts. */
  sendInitial(watcher: Watcher, objects: readonly StoredObject[]): void {
    this.#deps.counts.initialEvents += objects.length
    for (const stored of objects) this.#push(watcher, 'ADDED', this.#deliveryOf(stored))
  }

  /** Sends the changes that a watch resumes from. */
  sendPast(watcher: Watcher, changes: readonly Change[]): void {
    for (const change of changes) this.#deliver(watcher, change, {})
  }

  bookmark(watcher: Watcher, initialEventsEnd: boolean): void {
    this.#record(watcher.sender, 'BOOKMARK')
    this.#send(watcher, { type: 'BOOKMARK', revision: this.#deps.revision(), initialEventsEnd })
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

  #deliveryOf(stored: StoredObject): Delivery {
    const { metadata } = stored.object
    const { revision } = stored
    return {
      stored,
      subject: { resource: this.#kind.plural, namespace: metadata.namespace ?? '', name: metadata.name },
      write: causeOf(this.#deps.flow.writeOf(revision), revision),
    }
  }

  #push(
    watcher: Watcher,
    type: 'ADDED' | 'MODIFIED' | 'DELETED',
    { stored, subject, write }: Delivery,
    before?: StoredObject,
  ): void {
    const { flow, counts } = this.#deps
    counts.dispatched++
    const delivery = flow.record('watch', 'API Server', watcher.sender, type, subject, stored.revision, write)
    const cause = { ...write, event: delivery }
    this.#send(watcher, before === undefined ? { type, stored, cause } : { type, stored, cause, before })
  }

  #send({ channel, sender }: Watcher, event: WatchEvent): void {
    channel.push(event)
    // A channel that has ended here has just overflowed, because its reader is too far behind.
    if (channel.ended) this.#record(sender, 'cut off')
  }

  /** Records an event of the watch itself. */
  #record(watcher: string, what: string): void {
    const { flow, revision } = this.#deps
    flow.record('watch', 'API Server', watcher, what, this.#kindSubject, revision())
  }
}
