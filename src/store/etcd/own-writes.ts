// OwnWrites: etcd may deliver a watch event before the response to the write that caused it. The contract requires the
// reverse order, so events wait until the writer of their revision has its response, or until no write in flight can be
// their cause.
import type { CommitResult, Transaction } from '../store.ts'

/** Events arrive shortly after the responses; older revisions are never looked up. */
const acknowledgedMax = 10_000

export class OwnWrites {
  /** Writes in flight, by the keys that they change. */
  readonly #inFlight = new Map<string, Set<Promise<void>>>()
  /** The newest revisions of our own writes whose responses have arrived. */
  readonly #acknowledged = new Set<number>()
  readonly #waiting = new Map<number, PromiseWithResolvers<void>>()

  /** Runs a write. Events that wait for it are released after the writer has its result. */
  async run({ operations }: Transaction, write: () => Promise<CommitResult>): Promise<CommitResult> {
    const ended = Promise.withResolvers<void>()
    for (const { key } of operations) this.#writesOf(key).add(ended.promise)
    let revision = 0
    try {
      const result = await write()
      // A put creates the revision; a rejected write, or one that deleted nothing, returns the revision of another
      // write.
      if (result.kind === 'committed' && operations.some(({ kind }) => kind === 'put')) revision = result.revision
      return result
    } finally {
      // The writer and its callers are scheduled before the events that this releases.
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

  /**
   * Resolves when watchers may receive this revision, which changed these keys; undefined when they may receive it now.
   */
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
