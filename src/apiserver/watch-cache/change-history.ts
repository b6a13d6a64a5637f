// ChangeHistory: the newest changes of one kind, in the order of revisions. Watches resume from it, and lists at a past
// revision are computed from it.
import type { OrderedMap } from '../../base/collections/ordered-map.ts'
import { tooOldResourceVersion } from '../../api/errors/status-error.ts'
import type { StoredObject } from '../storage/stored-object.ts'

/** How many changes of one kind watches can resume from. */
export const historyChangesMax = 5_000
/** The history is trimmed when it is this much longer. */
const historyChangesOver = 1_000

export interface Change {
  readonly revision: number
  readonly key: string
  readonly now: StoredObject | undefined
  readonly before: StoredObject | undefined
}

type State = OrderedMap<StoredObject>

export class ChangeHistory {
  #changes: Change[] = []
  #oldestRevision = 0
  /** The past state that was computed last: the pages of a list read the same one. */
  #pastState: { readonly changes: number; readonly state: State } | undefined

  get changes(): readonly Change[] {
    return this.#changes
  }

  /** Watches can resume after this revision; older changes have been dropped. */
  get oldestRevision(): number {
    return this.#oldestRevision
  }

  /** Forgets all changes: the state is known from this revision on. */
  reset(revision: number): void {
    this.#changes = []
    this.#pastState = undefined
    this.#oldestRevision = revision
  }

  append(change: Change): void {
    this.#changes.push(change)
  }

  /** The changes after a revision; throws where they have been dropped. */
  after(revision: number): Change[] {
    this.#requireRetained(revision)
    return this.#changes.slice(this.#firstAfter(revision))
  }

  /** The state at a past revision: the present one with the later changes undone. */
  stateAt(revision: number, present: State): State {
    this.#requireRetained(revision)
    const changes = this.#firstAfter(revision)
    const known = this.#pastState
    const isNear = known !== undefined && known.changes >= changes
    let [state, left] = isNear ? [known.state, known.changes] : [present, this.#changes.length]
    for (; left > changes; left--) {
      const { key, before } = this.#changes[left - 1] as Change
      state = state.with(key, before)
    }
    this.#pastState = { changes, state }
    return state
  }

  /** Drops the oldest changes where there are too many. */
  trim(): void {
    const count = this.#changes.length - historyChangesMax
    if (count <= historyChangesOver) return
    this.#dropUpTo(this.#changes[count - 1] as Change)
  }

  /** Drops the changes up to a revision, and returns them. Without any, watches can still resume from before it. */
  drop(revision: number): readonly Change[] {
    const dropped = this.#changes.slice(0, this.#firstAfter(revision))
    const last = dropped.at(-1)
    if (last !== undefined) this.#dropUpTo(last)
    return dropped
  }

  /** Changes of one revision are dropped together, because no state exists between them. */
  #dropUpTo({ revision }: Change): void {
    this.#changes = this.#changes.slice(this.#firstAfter(revision))
    this.#pastState = undefined
    this.#oldestRevision = revision
  }

  #requireRetained(revision: number): void {
    if (revision < this.#oldestRevision) throw tooOldResourceVersion(revision, this.#oldestRevision)
  }

  /** The index of the first change after a revision. */
  #firstAfter(revision: number): number {
    let low = 0
    let high = this.#changes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#changes[middle]?.revision ?? Infinity) <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}
