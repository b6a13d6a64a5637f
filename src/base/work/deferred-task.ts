// Postponed: work that begins a turn of the event loop later, unless it has become needless by then.
import type { Clock } from '../time/clock.ts'
import { eventLoopTurn } from '../async/event-loop-turn.ts'

/** The turns that have been asked for and have not begun: who postpones something in the same turn shares the next one. */
const nextTurns = new WeakMap<Clock, Promise<void>>()

function nextTurnOf(clock: Clock): Promise<void> {
  const known = nextTurns.get(clock)
  if (known !== undefined) return known
  const next = clock.outside(eventLoopTurn().then(() => void nextTurns.delete(clock)))
  nextTurns.set(clock, next)
  return next
}

export class DeferredTask<T> {
  #begun: Promise<T> | undefined
  #isNeedless = false

  constructor(clock: Clock, work: () => Promise<T>) {
    void this.#begin(clock, work)
  }

  /** It does not begin any more; what has begun is waited for, and what came of it returned. */
  async end(): Promise<{ readonly result: T } | undefined> {
    this.#isNeedless = true
    return this.#begun === undefined ? undefined : { result: await this.#begun }
  }

  async #begin(clock: Clock, work: () => Promise<T>): Promise<void> {
    await nextTurnOf(clock)
    if (this.#isNeedless) return
    this.#begun = work()
    this.#begun.catch(() => {}) // whoever ends it is told
  }
}
