// Batches: what etcd's watch sends, put together revision by revision. One response may hold many revisions, and a
// large revision may come in several fragments; a batch here is one revision, whole.
import { present } from '../../base/assert.ts'
import { Compacted, type KeyValue, type StoreBatch, type StoreEvent } from '../store.ts'
import type { EtcdEvent, EtcdKeyValue, WatchResponse } from './etcd-messages.ts'

/** Values are copied: a view would keep the whole message in memory for as long as the value lives. */
export const toKeyValue = (kv: EtcdKeyValue, prefixLength: number): KeyValue => ({
  key: kv.key.slice(prefixLength),
  value: kv.value.slice(),
  createRevision: kv.createRevision,
  modRevision: kv.modRevision,
})

export class BatchAssembler {
  readonly #prefixLength: number
  /** The one that is being put together; 0 between two. */
  #revision = 0
  #events: StoreEvent[] = []

  /** `prefixLength` is how much of a key in etcd comes before the store's own. */
  constructor(prefixLength: number) {
    this.#prefixLength = prefixLength
  }

  /**
   * The revisions that this response completes, with those events whose key in etcd is wanted, or none. Throws Compacted
   * when what was before an event is gone.
   */
  add({ events, fragment }: WatchResponse, isIncluded: (key: string) => boolean): StoreBatch[] {
    const batches: StoreBatch[] = []
    for (const event of events) {
      const { modRevision: revision, key } = present(event.kv, 'an event has a key')
      if (revision !== this.#revision) this.#finish(batches)
      this.#revision = revision
      if (isIncluded(key)) this.#events.push(this.#toEvent(event, revision))
    }
    if (!fragment) this.#finish(batches)
    return batches
  }

  #finish(batches: StoreBatch[]): void {
    if (this.#revision > 0) batches.push({ revision: this.#revision, events: this.#events })
    this.#events = []
    this.#revision = 0
  }

  #toEvent({ type, kv, prevKv }: EtcdEvent, revision: number): StoreEvent {
    const item = toKeyValue(present(kv, 'an event has a key'), this.#prefixLength)
    const previous = prevKv === undefined ? undefined : toKeyValue(prevKv, this.#prefixLength)
    const isCreation = item.createRevision === revision
    if (type === 'PUT' && (isCreation || previous !== undefined))
      return { kind: 'put', revision, item, previous: isCreation ? undefined : previous }
    // etcd compacted the value before while it read the event: the watch cannot be told whole any more.
    if (previous === undefined) throw new Compacted(revision - 1, revision)
    return { kind: 'delete', revision, key: item.key, previous }
  }
}
