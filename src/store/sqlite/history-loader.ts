// HistoryLoader: builds the history from the changes of a file. Changes up to the compacted revision form the first
// state; later ones form the versions after it.
import { assert } from '../../base/assert.ts'
import { History, type HistoryBounds } from '../history.ts'
import type { Operation } from '../store.ts'
import { emptyVersion, successor, type Version } from '../store-version.ts'
import { unpack, type Change, type PackedChanges } from './packed-changes.ts'

export class HistoryLoader {
  #base: Version = emptyVersion
  readonly #later: Version[] = []
  /** The revision whose changes are being collected. */
  #open: { readonly revision: number; readonly atMs: number; readonly operations: Operation[] } | undefined

  add(changes: PackedChanges, compacted: number): void {
    for (const change of unpack(changes))
      if (change.revision <= compacted) this.#takeState(change)
      else this.#takeLater(change, compacted)
  }

  finish(compacted: number, bounds: HistoryBounds): History {
    this.#closeRevision(compacted)
    const base = { ...this.#base, revision: compacted }
    return new History(this.#later.at(-1) ?? base, [base, ...this.#later], bounds)
  }

  #takeState({ key, value, createRevision, revision, version, lease }: Change): void {
    const item = value && { key, value, createRevision, modRevision: revision, version, lease }
    this.#base = { ...this.#base, state: this.#base.state.with(key, item) }
  }

  #takeLater({ revision, atMs, key, value, lease }: Change, compacted: number): void {
    if (this.#open?.revision !== revision) {
      this.#closeRevision(compacted)
      this.#open = { revision, atMs, operations: [] }
    }
    this.#open?.operations.push(
      value === undefined
        ? { kind: 'delete', key }
        : { kind: 'put', key, value, ...(lease === undefined ? {} : { lease }) },
    )
  }

  #closeRevision(compacted: number): void {
    if (this.#open === undefined) return
    const { revision, atMs, operations } = this.#open
    const before = this.#later.at(-1) ?? { ...this.#base, revision: compacted }
    const version = successor(before, operations, atMs)
    assert(version.revision === revision, `revision ${revision} does not follow ${before.revision}`)
    this.#later.push(version)
    this.#open = undefined
  }
}
