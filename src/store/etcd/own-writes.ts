// OwnWrites: etcd may tell a watcher of a write before it tells the writer. Here the writer comes first: what a watch
// brings waits until the writer of its revision has his answer, or until no write of ours under way can be its cause.
import type { CommitResult, Transaction } from '../store.ts'

/** Events come within moments of the answers: older ones are never asked for. */
const acknowledgedMax = 10_000

export class OwnWrites {
  /** Writes under way, by the keys that they change. */
  readonly #inFlight = new Map<string, Set<Promise<void>>>()
  /** Revisions of ours whose writers have their answers, the newest of them. */
  readonly #acknowledged = new Set<number>()
  readonly #waiting = new Map<number, PromiseWithResolvers<void>>()

  /** Runs a write; whoever waits for it goes on after the writer has its answer. */
  async run({ operations }: Transaction, write: () => Promise<CommitResult>): Promise<CommitResult> {
    const ended = Promise.withResolvers<void>()
    for (const { key } of operations) this.#writesOf(key).add(ended.promise)
    let revision = 0
    try {
      const result = await write()
      // A put makes the revision; what was refused, or deleted nothing, is answered with somebody else's.
      if (result.kind === 'committed' && operations.some(({ kind }) => kind === 'put')) revision = result.revision
      return result
    } finally {
      // The writer, and whoever awaits the writer, are queued before what this wakes.
      afterMicrotasks(3, () => {
        for (const { key } of operations) {
          const writes = this.#writesOf(key)
          writes.delete(ended.promise)
          if (writes.size === 0) this.#inFlight.delete(key)
        }
        ended.resolve()
        this.#acknowledge(revision)
      })
    }
  }

  /** Resolves when watchers may hear of this revision, which changed these keys; undefined when that is now. */
  whenDeliverable(revision: number, keys: readonly string[]): Promise<unknown> | undefined {
    if (this.#inFlight.size === 0 || this.#acknowledged.has(revision)) return undefined
    const causes = new Set(keys.flatMap((key) => [...(this.#inFlight.get(key) ?? [])]))
    if (causes.size === 0) return undefined
    const acknowledged = this.#waiting.get(revision) ?? Promise.withResolvers<void>()
    this.#waiting.set(revision, acknowledged)
    return Promise.race([acknowledged.promise, Promise.all(causes)]).finally(() => this.#waiting.delete(revision))
  }

  #writesOf(key: string): Set<Promise<void>> {
    const writes = this.#inFlight.get(key) ?? new Set()
    this.#inFlight.set(key, writes)
    return writes
  }

  #acknowledge(revision: number): void {
    if (revision === 0) return
    this.#acknowledged.add(revision)
    const [oldest] = this.#acknowledged
    if (this.#acknowledged.size > acknowledgedMax && oldest !== undefined) this.#acknowledged.delete(oldest)
    this.#waiting.get(revision)?.resolve()
  }
}

function afterMicrotasks(turns: number, callback: () => void): void {
  queueMicrotask(turns === 1 ? callback : () => afterMicrotasks(turns - 1, callback))
}
