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
  readonly #executing: RatioTimes
  readonly #seats: RatioTimes
  readonly #waiting: RatioTimes

  constructor(metrics: FairnessMetrics, level: string, nowMs: number) {
    const { executing, seats, waiting } = metrics.ofLevel(level)
    this.#executing = new RatioTimes(executing, nowMs)
    this.#seats = new RatioTimes(seats, nowMs)
    this.#waiting = new RatioTimes(waiting, nowMs)
  }

  addExecuting(requests: number, seats: number, nowMs: number): void {
    this.#executing.add(requests, nowMs)
    this.#seats.add(seats, nowMs)
  }

  addWaiting(requests: number, nowMs: number): void {
    this.#waiting.add(requests, nowMs)
  }

  setLimits(executing: number, waiting: number, nowMs: number): void {
    this.#executing.setLimit(executing, nowMs)
    this.#seats.setLimit(executing, nowMs)
    this.#waiting.setLimit(waiting, nowMs)
  }

  record(nowMs: number): void {
    for (const times of [this.#executing, this.#seats, this.#waiting]) times.observe(nowMs)
  }
}

export class KindUsage {
  readonly #executing: RatioTimes
  readonly #waiting: RatioTimes
  readonly #waitingPeak = new SecondPeak()
  readonly #shownPeak: { set(value: number): void }

  constructor(metrics: FairnessMetrics, kind: RequestKind, nowMs: number) {
    const { executing, waiting, waitingPeak } = metrics.ofKind(kind)
    this.#executing = new RatioTimes(executing, nowMs)
    this.#waiting = new RatioTimes(waiting, nowMs)
    this.#shownPeak = waitingPeak
  }

  addExecuting(requests: number, nowMs: number): void {
    this.#executing.add(requests, nowMs)
  }

  addWaiting(requests: number, nowMs: number): void {
    this.#waiting.add(requests, nowMs)
    this.#waitingPeak.add(requests, nowMs)
  }

  setLimits(executing: number, waiting: number, nowMs: number): void {
    this.#executing.setLimit(executing, nowMs)
    this.#waiting.setLimit(waiting, nowMs)
  }

  record(nowMs: number): void {
    this.#executing.observe(nowMs)
    this.#waiting.observe(nowMs)
    this.#shownPeak.set(this.#waitingPeak.read(nowMs))
  }
}
