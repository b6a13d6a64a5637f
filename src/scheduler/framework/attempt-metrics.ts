// Measures attempts to schedule a pod: their result, their duration and the time of each extension point.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { SchedulerMetrics } from './scheduler-metrics.ts'

export type AttemptResult = 'scheduled' | 'unschedulable' | 'error'
export type PointStatus = 'Success' | 'Unschedulable' | 'Error'
export type TimedPoint =
  | 'PreFilter'
  | 'Filter'
  | 'PostFilter'
  | 'PreScore'
  | 'Score'
  | 'Reserve'
  | 'Permit'
  | 'PreBind'
  | 'Bind'
  | 'PostBind'

/** From this number on, attempts share one label value. */
const attemptsLabelMax = 15

/** Receives the end of an extension point and the plugins that ran in it. */
export type PointTimer = Pick<Stopwatch, 'lap' | 'countCall'>

export const noPointTimer: PointTimer = { lap: () => {}, countCall: () => {} }

type CountedPoint = Extract<TimedPoint, 'PreFilter' | 'Filter' | 'PreScore' | 'Score'>

/** Measures one attempt to schedule a pod. Each extension point takes the time since the previous one. */
export class Stopwatch {
  readonly #metrics: ProfileMetrics
  readonly #clock: Clock
  readonly #beganMs: number
  #lastMs: number

  constructor(metrics: ProfileMetrics, clock: Clock) {
    this.#metrics = metrics
    this.#clock = clock
    this.#beganMs = this.#lastMs = clock.monotonicMs()
  }

  lap(point: TimedPoint, status: PointStatus = 'Success'): void {
    const nowMs = this.#clock.monotonicMs()
    this.#metrics.point(point, status, (nowMs - this.#lastMs) / 1000)
    this.#lastMs = nowMs
  }

  /** A plugin evaluated the pod at this point. */
  countCall(point: CountedPoint, plugin: string): void {
    this.#metrics.countCall(point, plugin)
  }

  /** Excludes the time since the last point, which was spent waiting. */
  resume(): void {
    this.#lastMs = this.#clock.monotonicMs()
  }

  /** The decision is made; binding follows. */
  decided(): void {
    this.#metrics.all.algorithmSeconds.observe({}, (this.#clock.monotonicMs() - this.#beganMs) / 1000)
  }

  end(result: AttemptResult): void {
    this.#metrics.attempt(result, (this.#clock.monotonicMs() - this.#beganMs) / 1000)
  }
}

/** The series of one profile, resolved once. */
export class ProfileMetrics {
  readonly all: SchedulerMetrics
  readonly #profile: string
  readonly #points: Readonly<Record<PointStatus, Map<TimedPoint, { observe(seconds: number): void }>>> = {
    Success: new Map(),
    Unschedulable: new Map(),
    Error: new Map(),
  }
  readonly #calls: Readonly<Record<CountedPoint, Map<string, { add(amount: number): void }>>> = {
    PreFilter: new Map(),
    Filter: new Map(),
    PreScore: new Map(),
    Score: new Map(),
  }
  readonly #results = new Map<AttemptResult, { count(seconds: number): void }>()

  constructor(all: SchedulerMetrics, profile: string) {
    this.all = all
    this.#profile = profile
  }

  point(point: TimedPoint, status: PointStatus, seconds: number): void {
    const profile = this.#profile
    getOrInsert(this.#points[status], point, () =>
      this.all.pointSeconds.with({ extension_point: point, profile, status }),
    ).observe(seconds)
  }

  countCall(point: CountedPoint, plugin: string): void {
    const profile = this.#profile
    getOrInsert(this.#calls[point], plugin, () =>
      this.all.evaluations.with({ extension_point: point, plugin, profile }),
    ).add(1)
  }

  attempt(result: AttemptResult, seconds: number): void {
    let series = this.#results.get(result)
    if (series === undefined) {
      const labels = { profile: this.#profile, result }
      const total = this.all.attempts.with(labels)
      const duration = this.all.attemptSeconds.with(labels)
      series = {
        count(took) {
          total.add(1)
          duration.observe(took)
        },
      }
      this.#results.set(result, series)
    }
    series.count(seconds)
  }

  /** A pod was bound, after this many attempts and seconds since the first attempt. */
  bound(attempts: number, seconds: number, wasFlushed: boolean): void {
    if (wasFlushed) this.all.scheduledAfterFlush.add({})
    const label = attempts >= attemptsLabelMax ? `${attemptsLabelMax}+` : String(attempts)
    this.all.podSeconds.observe({ attempts: label }, seconds)
    this.all.podAttempts.observe({}, attempts)
  }
}
