// DeferredTask: work that starts in the next turn of the event loop, unless it is cancelled before.
import type { Clock } from '../time/clock.ts'
import { eventLoopTurn } from '../async/event-loop-turn.ts'

/** Pending turns. Tasks that are deferred in the same turn share the next one. */
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
  #isCancelled = false

  constructor(clock: Clock, work: () => Promise<T>) {
    void this.#begin(clock, work)
  }

  /** Cancels the task if it has not started; otherwise waits for it and returns its result. */
  async end(): Promise<{ readonly result: T } | undefined> {
    this.#isCancelled = true
    return this.#begun === undefined ? undefined : { result: await this.#begun }
  }

  async #begin(clock: Clock, work: () => Promise<T>): Promise<void> {
    await nextTurnOf(clock)
    if (this.#isCancelled) return
    this.#begun = work()
    this.#begun.catch(() => {}) // the caller of end() gets the error
  }
}
