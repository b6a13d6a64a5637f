// BatchAssembler: groups the events of etcd's watch by revision. A response may contain many revisions, and a large
// revision may arrive in several fragments; a batch is one complete revision.
import { present } from '../../base/assert.ts'
import { Compacted, type KeyValue, type StoreBatch, type StoreEvent } from '../store.ts'
import type { EtcdEvent, EtcdKeyValue, WatchResponse } from './etcd-messages.ts'

/** Values are copied: a view would keep the whole response in memory for as long as the value lives. */
export const toKeyValue = (kv: EtcdKeyValue, prefixLength: number): KeyValue => ({
  key: kv.key.slice(prefixLength),
  value: kv.value.slice(),
  createRevision: kv.createRevision,
  modRevision: kv.modRevision,
  version: kv.version,
})

export class BatchAssembler {
  readonly #prefixLength: number
  /** The revision that is being assembled; 0 when there is none. */
  #revision = 0
  #events: StoreEvent[] = []

  /** `prefixLength` is the length of the prefix that etcd's keys have before the keys of the store. */
  constructor(prefixLength: number) {
    this.#prefixLength = prefixLength
  }

  /**
   * The revisions that this response completes, each with the events whose key is included, possibly none. Throws
   * Compacted when the previous value of an event has been compacted.
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
    // etcd compacted the previous value while it read the event, so the event cannot be delivered completely.
    if (previous === undefined) throw new Compacted(revision - 1, revision)
    return { kind: 'delete', revision, key: item.key, previous }
  }
}
