// How many requests wait and are executed over time: LevelUsage of one priority level, KindUsage of those that read or
// those that change something.
import type { FairnessMetrics } from './fairness-metrics.ts'
import { SecondPeak } from './second-peak.ts'
import { TimedRatio } from './timed-ratio.ts'

export type RequestKind = 'readOnly' | 'mutating'

export class LevelUsage {
  readonly #executing: TimedRatio
  readonly #seats: TimedRatio
  readonly #waiting: TimedRatio

  constructor(metrics: FairnessMetrics, level: string, nowMs: number) {
    const { executing, seats, waiting } = metrics.ofLevel(level)
    this.#executing = new TimedRatio(executing, nowMs)
    this.#seats = new TimedRatio(seats, nowMs)
    this.#waiting = new TimedRatio(waiting, nowMs)
  }

  setLimits(executing: number, waiting: number, nowMs: number): void {
    this.#executing.setLimit(executing, nowMs)
    this.#seats.setLimit(executing, nowMs)
    this.#waiting.setLimit(waiting, nowMs)
  }

  addExecuting(requests: number, seats: number, nowMs: number): void {
    this.#executing.add(requests, nowMs)
    this.#seats.add(seats, nowMs)
  }

  addWaiting(requests: number, nowMs: number): void {
    this.#waiting.add(requests, nowMs)
  }

  record(nowMs: number): void {
    for (const ratio of [this.#executing, this.#seats, this.#waiting]) ratio.record(nowMs)
  }
}

export class KindUsage {
  readonly #executing: TimedRatio
  readonly #waiting: TimedRatio
  readonly #waitingPeak = new SecondPeak()
  readonly #shownPeak: { set(value: number): void }

  constructor(metrics: FairnessMetrics, kind: RequestKind, nowMs: number) {
    const { executing, waiting, waitingPeak } = metrics.ofKind(kind)
    this.#executing = new TimedRatio(executing, nowMs)
    this.#waiting = new TimedRatio(waiting, nowMs)
    this.#shownPeak = waitingPeak
  }

  setLimits(executing: number, waiting: number, nowMs: number): void {
    this.#executing.setLimit(executing, nowMs)
    this.#waiting.setLimit(waiting, nowMs)
  }

  addExecuting(requests: number, nowMs: number): void {
    this.#executing.add(requests, nowMs)
  }

  addWaiting(requests: number, nowMs: number): void {
    this.#waiting.add(requests, nowMs)
    this.#waitingPeak.add(requests, nowMs)
  }

  record(nowMs: number): void {
    this.#executing.record(nowMs)
    this.#waiting.record(nowMs)
    this.#shownPeak.set(this.#waitingPeak.read(nowMs))
  }
}
