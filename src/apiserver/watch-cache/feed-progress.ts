// FeedProgress: the revision up to which a feed has applied all changes. The caches of the feed share it, so that a write costs the
// same with a thousand custom resources as with none.
import type { RevisionWaiters } from './revision-waiters.ts'

export class FeedProgress {
  #revision = 0
  /** Of caches that a read waits for. */
  readonly #waiting = new Set<RevisionWaiters>()

  get revision(): number {
    return this.#revision
  }

  /** The waiters are notified of the next revisions, until none is left. */
  notify(waiters: RevisionWaiters): void {
    this.#waiting.add(waiters)
  }

  /** All caches have the changes up to this revision, which is an earlier one after the store was restored. */
  reached(revision: number): void {
    this.#revision = revision
    for (const waiters of this.#waiting) {
      waiters.advance(revision)
      if (waiters.size === 0) this.#waiting.delete(waiters)
    }
  }
}
