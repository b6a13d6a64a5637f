// VirtualClock: time that advances only on request. It runs due timers one by one in the order (time, creation) and
// lets every runnable promise finish after each, so that a seed always gives the same trace.
import { assert } from '../assert.ts'
import { durationMs, sleepOn, type Clock, type Timer } from './clock.ts'
import { TimerHeap } from './timer-heap.ts'
import { eventLoopTurn } from '../async/event-loop-turn.ts'

/** The default start of every virtual clock: a round date that is easy to read in traces. */
export const virtualEpochMs = Date.UTC(2030, 0, 1)

// Bound for one advance. Beyond it, two timers most likely trigger each other without time passing.
const stepsWithoutProgressMax = 100_000

const followStepMs = 5

export class VirtualClock implements Clock {
  #nowMs: number
  #timers = new TimerHeap()
  #outsideOpen = 0
  #outsideClosed: (() => void)[] = []
  /** Serialises requests to advance the time. */
  #moves: Promise<unknown> = Promise.resolve()

  constructor(startMs: number = virtualEpochMs) {
    this.#nowMs = startMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  cpuMs(): number {
    return this.monotonicMs()
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

  /** Runs everything that is runnable, without advancing the time. */
  async settle(): Promise<void> {
    for (;;) {
      await eventLoopTurn()
      if (this.#outsideOpen === 0) return
      await new Promise<void>((resolve) => this.#outsideClosed.push(resolve))
    }
  }

  /** Advances the time by a duration ('1h', '90s' or milliseconds) and runs every timer that becomes due. */
  advance(duration: string | number): Promise<void> {
    return this.#move(async () => {
      const ms = durationMs(duration)
      if (!(ms >= 0 && ms < Infinity)) throw new RangeError(`advance(${duration}): it must be a time from 0 on`)
      const untilMs = this.#nowMs + ms
      await this.settle()
      await this.#run(untilMs, () => false)
      this.#nowMs = untilMs
    })
  }

  /** Sets the time; timers keep their due times. */
  turnTo(nowMs: number): void {
    this.#nowMs = nowMs
  }

  /** Follows another clock until the timer is cancelled. It can still be advanced manually. */
  follow(other: Clock, stepMs = followStepMs): Timer {
    let seenMs = other.monotonicMs()
    let timer: Timer
    let isCancelled = false
    const step = async () => {
      const passedMs = other.monotonicMs() - seenMs
      seenMs += passedMs
      await this.advance(passedMs)
      if (!isCancelled) timer = other.after(stepMs, () => void step())
    }
    timer = other.after(stepMs, () => void step())
    return {
      cancel() {
        isCancelled = true
        timer.cancel()
      },
    }
  }

  /** Runs timers until none is left or `limit` has passed; returns whether it became idle. */
  runUntilIdle(limit: string | number = '1h'): Promise<boolean> {
    return this.#move(async () => {
      await this.settle()
      await this.#run(this.#nowMs + durationMs(limit), () => false)
      return this.#timers.size === 0
    })
  }

  /** Runs timers until the condition holds or `limit` has passed; returns whether it holds. */
  runUntil(condition: () => boolean, limit: string | number = '1h'): Promise<boolean> {
    return this.#move(async () => {
      await this.settle()
      await this.#run(this.#nowMs + durationMs(limit), condition)
      return condition()
    })
  }

  #move<T>(move: () => Promise<T>): Promise<T> {
    const moved = this.#moves.then(move)
    this.#moves = moved.catch(() => undefined)
    return moved
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
