// Computations that are interrupted and started again. A recursive computation cannot be suspended in place: it throws a
// SliceEnd when its slice is used up, keeps the results of the steps that it has completed, and takes them from there when
// it is started again. This is exact for computations that are deterministic.
import type { Slice, Sliced } from './work-slice.ts'

/** The slice is used up: the computation continues in the next one. */
export class SliceEnd extends Error {
  constructor() {
    super('the slice is used up')
  }
}

/** The result of the first attempt that is not interrupted. */
export function* restarted<T>(attempt: () => T): Sliced<T> {
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!(error instanceof SliceEnd)) throw error
    }
    yield
  }
}

/** Counts completed steps, and ends the slice after a number of them if it is used up. Every slice completes that many. */
export class StepCounter {
  readonly #slice: Slice
  readonly #stepsPerCheck: number
  #unchecked = 0

  constructor(slice: Slice, stepsPerCheck: number) {
    this.#slice = slice
    this.#stepsPerCheck = stepsPerCheck
  }

  /** Call it when the result is stored. Throws a SliceEnd. */
  completed(steps = 1): void {
    this.#unchecked += steps
    if (this.#unchecked < this.#stepsPerCheck) return
    this.#unchecked = 0
    if (this.#slice.isUsedUp()) throw new SliceEnd()
  }
}
