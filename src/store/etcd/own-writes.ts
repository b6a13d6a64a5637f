// OwnWrites: etcd may tell a watcher of a write before it tells the writer. Here the writer comes first: what a watch
// brings waits until the writer of its revision has his answer, or until no write of ours under way can be its cause.
import type { CommitResult, Transaction } from '../store.ts'

/** Events come within moments of the answers: older ones are never asked for. */
const answeredMax = 10_000

export class OwnWrites {
  /** Writes under way, by the keys that they change. */
  readonly #underWay = new Map<string, Set<Promise<void>>>()
  /** Revisions of ours whose writers have their answers, the newest of them. */
  readonly #answered = new Set<number>()
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
      afterTurns(3, () => {
        for (const { key } of operations) {
          const writes = this.#writesOf(key)
          writes.delete(ended.promise)
          if (writes.size === 0) this.#underWay.delete(key)
        }
        ended.resolve()
        this.#answer(revision)
      })
    }
  }

  /** Resolves when watchers may hear of this revision, which changed these keys; undefined when that is now. */
  mayBeTold(revision: number, keys: readonly string[]): Promise<unknown> | undefined {
    if (this.#underWay.size === 0 || this.#answered.has(revision)) return undefined
    const causes = new Set(keys.flatMap((key) => [...(this.#underWay.get(key) ?? [])]))
    if (causes.size === 0) return undefined
    const answered = this.#waiting.get(revision) ?? Promise.withResolvers<void>()
    this.#waiting.set(revision, answered)
    return Promise.race([answered.promise, Promise.all(causes)]).finally(() => this.#waiting.delete(revision))
  }

  #writesOf(key: string): Set<Promise<void>> {
    const writes = this.#underWay.get(key) ?? new Set()
    this.#underWay.set(key, writes)
    return writes
  }

  #answer(revision: number): void {
    if (revision === 0) return
    this.#answered.add(revision)
    const [oldest] = this.#answered
    if (this.#answered.size > answeredMax && oldest !== undefined) this.#answered.delete(oldest)
    this.#waiting.get(revision)?.resolve()
  }
}

function afterTurns(turns: number, callback: () => void): void {
  queueMicrotask(turns === 1 ? callback : () => afterTurns(turns - 1, callback))
}
