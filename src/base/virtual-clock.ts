// VirtualClock: time that moves only when told to. It runs due timers one by one in the order (time, creation), and
// after each lets every runnable promise finish, so that a seed gives the same trace each time.
import { assert } from './assert.ts'
import { durationMs, sleepOn, type Clock, type Timer } from './clock.ts'
import { TimerHeap } from './timer-heap.ts'
import { turn } from './turn.ts'

/** The time at which every virtual clock starts unless told otherwise: a round instant, easy to read in traces. */
export const virtualEpochMs = Date.UTC(2030, 0, 1)

// A bound on one advance: beyond it two timers most likely wake each other without time passing.
const stepsWithoutProgressMax = 100_000

export class VirtualClock implements Clock {
  #nowMs: number
  #timers = new TimerHeap()
  #outsideOpen = 0
  #outsideClosed: (() => void)[] = []

  constructor(startMs: number = virtualEpochMs) {
    this.#nowMs = startMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal)
  }

  after(ms: number, callback: () => void): Timer {
    return this.#timers.add(this.#nowMs + Math.max(0, ms), callback)
  }

  async outside<T>(operation: Promise<T>): Promise<T> {
    this.#outsideOpen++
    try {
      return await operation
    } finally {
      this.#outsideOpen--
      if (this.#outsideOpen === 0) for (const resume of this.#outsideClosed.splice(0)) resume()
    }
  }

  get pendingTimers(): number {
    return this.#timers.size
  }

  /** Lets everything runnable run, without moving time. */
  async settle(): Promise<void> {
    for (;;) {
      await turn()
      if (this.#outsideOpen === 0) return
      await new Promise<void>((resolve) => this.#outsideClosed.push(resolve))
    }
  }

  /** Moves time forward by a duration ('1h', '90s' or milliseconds), running every timer that falls due on the way. */
  async advance(duration: string | number): Promise<void> {
    const untilMs = this.#nowMs + durationMs(duration)
    await this.settle()
    await this.#run(untilMs, () => false)
    this.#nowMs = untilMs
  }

  /** Runs timers until none is left or `limit` has passed; returns whether it became idle. */
  async runUntilIdle(limit: string | number = '1h'): Promise<boolean> {
    await this.settle()
    await this.#run(this.#nowMs + durationMs(limit), () => false)
    return this.#timers.size === 0
  }

  /** Runs timers until the condition holds or `limit` has passed; returns whether it holds. */
  async runUntil(condition: () => boolean, limit: string | number = '1h'): Promise<boolean> {
    await this.settle()
    await this.#run(this.#nowMs + durationMs(limit), condition)
    return condition()
  }

  async #run(untilMs: number, done: () => boolean): Promise<void> {
    let steps = 0
    while (!done()) {
      const timer = this.#timers.takeDue(untilMs)
      if (timer === undefined) return
      if (timer.dueMs > this.#nowMs) steps = 0
      assert(++steps < stepsWithoutProgressMax, `${steps} timers ran at ${this.#nowMs} ms without time moving on`)
      this.#nowMs = Math.max(this.#nowMs, timer.dueMs)
      timer.callback()
      await this.settle()
    }
  }
}
