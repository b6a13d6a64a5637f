// How many requests wait and are executed: FlowUsage of one FlowSchema now, LevelUsage of one priority level over time, and
// KindUsage of those that read or those that change something over time. They count in plain numbers, which `record` adds to
// the metrics before each scrape.
import type { FairnessMetrics, FlowMetrics } from './fairness-metrics.ts'
import { RatioTimes } from './ratio-times.ts'
import { SecondPeak } from './second-peak.ts'

export type RequestKind = 'readOnly' | 'mutating'

export class FlowUsage {
  readonly metrics: FlowMetrics
  executing = 0
  seats = 0
  /** Since the last scrape. */
  dispatched = 0
  /** Requests that need one seat, as most do, and those that did not wait for theirs. */
  narrow = 0
  immediate = 0

  constructor(metrics: FlowMetrics) {
    this.metrics = metrics
  }

  record(): void {
    const { metrics } = this
    metrics.executing.set(this.executing)
    metrics.seats.set(this.seats)
    metrics.dispatched.add(this.dispatched)
    metrics.width.observeTimes(1, this.narrow)
    metrics.waited.observeTimes(0, this.immediate)
    this.dispatched = this.narrow = this.immediate = 0
  }
}

export class LevelUsage {
  readonly #executingTimes: RatioTimes
  readonly #seatTimes: RatioTimes
  readonly #waitingTimes: RatioTimes
  #executing = 0
  #seats = 0
  #waiting = 0
  #executingSinceMs: number
  #waitingSinceMs: number

  constructor(metrics: FairnessMetrics, level: string, nowMs: number) {
    const { executing, seats, waiting } = metrics.ofLevel(level)
    this.#executingTimes = new RatioTimes(executing)
    this.#seatTimes = new RatioTimes(seats)
    this.#waitingTimes = new RatioTimes(waiting)
    this.#executingSinceMs = this.#waitingSinceMs = nowMs
  }

  addExecuting(requests: number, seats: number, nowMs: number): void {
    const ms = nowMs - this.#executingSinceMs
    this.#executingTimes.add(this.#executing, ms)
    this.#seatTimes.add(this.#seats, ms)
    this.#executing += requests
    this.#seats += seats
    this.#executingSinceMs = nowMs
  }

  addWaiting(requests: number, nowMs: number): void {
    this.#waitingTimes.add(this.#waiting, nowMs - this.#waitingSinceMs)
    this.#waiting += requests
    this.#waitingSinceMs = nowMs
  }

  setLimits(executing: number, waiting: number, nowMs: number): void {
    this.record(nowMs)
    this.#executingTimes.setLimit(executing)
    this.#seatTimes.setLimit(executing)
    this.#waitingTimes.setLimit(waiting)
  }

  record(nowMs: number): void {
    this.addExecuting(0, 0, nowMs)
    this.addWaiting(0, nowMs)
    for (const times of [this.#executingTimes, this.#seatTimes, this.#waitingTimes]) times.observe()
  }
}

export class KindUsage {
  readonly #executingTimes: RatioTimes
  readonly #waitingTimes: RatioTimes
  readonly #waitingPeak = new SecondPeak()
  readonly #shownPeak: { set(value: number): void }
  #executing = 0
  #waiting = 0
  #executingSinceMs: number
  #waitingSinceMs: number

  constructor(metrics: FairnessMetrics, kind: RequestKind, nowMs: number) {
    const { executing, waiting, waitingPeak } = metrics.ofKind(kind)
    this.#executingTimes = new RatioTimes(executing)
    this.#waitingTimes = new RatioTimes(waiting)
    this.#shownPeak = waitingPeak
    this.#executingSinceMs = this.#waitingSinceMs = nowMs
  }

  addExecuting(requests: number, nowMs: number): void {
    this.#executingTimes.add(this.#executing, nowMs - this.#executingSinceMs)
    this.#executing += requests
    this.#executingSinceMs = nowMs
  }

  addWaiting(requests: number, nowMs: number): void {
    this.#waitingTimes.add(this.#waiting, nowMs - this.#waitingSinceMs)
    this.#waiting += requests
    this.#waitingSinceMs = nowMs
    this.#waitingPeak.add(requests, nowMs)
  }

  setLimits(executing: number, waiting: number, nowMs: number): void {
    this.record(nowMs)
    this.#executingTimes.setLimit(executing)
    this.#waitingTimes.setLimit(waiting)
  }

  record(nowMs: number): void {
    this.addExecuting(0, nowMs)
    this.addWaiting(0, nowMs)
    this.#executingTimes.observe()
    this.#waitingTimes.observe()
    this.#shownPeak.set(this.#waitingPeak.read(nowMs))
  }
}
