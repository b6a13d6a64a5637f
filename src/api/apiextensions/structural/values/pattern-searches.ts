// PatternSearches: the searches of patterns during the validation of one value. Validation is synchronous. When its slice is
// used up it is interrupted at a search, and repeated in the next slice with the results of the searches so far. This is
// exact because a validation always makes the same searches in the same order.
import { SliceEnd, StepCounter } from '../../../../base/work/restarted.ts'
import type { Slice } from '../../../../base/work/work-slice.ts'
import type { Regex } from '../../../../cel/regex/regex.ts'

/** The slice is checked after this many instructions times characters. */
const workPerCheck = 10_000

export class PatternSearches {
  readonly #slice: Slice
  readonly #results: boolean[] = []
  #next = 0
  readonly #work: StepCounter
  /** The search that was interrupted. */
  #running: Generator<undefined, boolean, undefined> | undefined

  constructor(slice: Slice) {
    this.#slice = slice
    this.#work = new StepCounter(slice, workPerCheck)
  }

  /** Runs the validation until it ends or its slice does: undefined. */
  attempt<T>(validate: (searches: PatternSearches) => T): T | undefined {
    this.#next = 0
    try {
      return validate(this)
    } catch (error) {
      if (error instanceof SliceEnd) return undefined
      throw error
    }
  }

  find(pattern: Regex, text: string): boolean {
    const known = this.#results[this.#next]
    if (known !== undefined) {
      this.#next++
      return known
    }
    const found = pattern.isShort(text)
      ? pattern.library.test(text)
      : this.#found((this.#running ??= pattern.test(text)))
    this.#running = undefined
    this.#results.push(found)
    this.#next++
    this.did(pattern.size * (text.length + 1))
    return found
  }

  /** Work that is not repeated has been done. */
  did(work: number): void {
    this.#work.completed(work)
  }

  #found(search: Generator<undefined, boolean, undefined>): boolean {
    for (;;) {
      const { done, value } = search.next()
      if (done === true) return value
      if (this.#slice.isUsedUp()) throw new SliceEnd()
    }
  }
}
