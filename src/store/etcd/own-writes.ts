// OwnWrites: etcd may tell a watcher of a write before it tells the writer. Here the writer comes first: what a watch
// brings waits for those writes of ours under way that it may come from, and everything after it waits too.
import type { Transaction } from '../store.ts'

export class OwnWrites {
  /** Writes under way, by the keys that they change. */
  readonly #underWay = new Map<string, Set<Promise<void>>>()

  /** Runs a write; whoever waits for it goes on after the writer has its answer. */
  async run<T>({ operations }: Transaction, write: () => Promise<T>): Promise<T> {
    const ended = Promise.withResolvers<void>()
    for (const { key } of operations) {
      const writes = this.#underWay.get(key)
      if (writes === undefined) this.#underWay.set(key, new Set([ended.promise]))
      else writes.add(ended.promise)
    }
    try {
      return await write()
    } finally {
      for (const { key } of operations) {
        const writes = this.#underWay.get(key)
        writes?.delete(ended.promise)
        if (writes?.size === 0) this.#underWay.delete(key)
      }
      // The writer, and whoever awaits the writer, are queued before what this wakes.
      queueMicrotask(() => queueMicrotask(() => queueMicrotask(ended.resolve)))
    }
  }

  /** Resolves when the writes of these keys that are under way now have ended; undefined when there are none. */
  ended(keys: Iterable<string>): Promise<unknown> | undefined {
    if (this.#underWay.size === 0) return undefined
    const writes = new Set<Promise<void>>()
    for (const key of keys) for (const write of this.#underWay.get(key) ?? []) writes.add(write)
    return writes.size === 0 ? undefined : Promise.all(writes)
  }
}
