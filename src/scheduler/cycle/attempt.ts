// Attempt: one attempt to schedule a pod, with its metrics.
import type { Clock } from '../../base/time/clock.ts'
import { ProfileMetrics, Stopwatch } from '../framework/attempt-metrics.ts'
import type { SchedulerMetrics } from '../framework/scheduler-metrics.ts'
import type { Profile } from '../framework/profile.ts'
import type { QueuedPod } from '../queue/scheduling-queue.ts'
import { timedProfile } from './timed-profile.ts'

export interface Attempt {
  readonly queued: QueuedPod
  readonly profile: Profile
  readonly stopwatch: Stopwatch
}

/** One of this many attempts measures the duration of each plugin. */
const timedOneIn = 100

export class Attempts {
  readonly #clock: Clock
  readonly #profiles: ReadonlyMap<string, { plain: Profile; timed: Profile; metrics: ProfileMetrics }>
  #count = 0

  constructor(profiles: readonly Profile[], metrics: SchedulerMetrics, clock: Clock) {
    this.#clock = clock
    this.#profiles = new Map(
      profiles.map((plain) => [
        plain.schedulerName,
        {
          plain,
          timed: timedProfile(plain, metrics.pluginSeconds, clock),
          metrics: new ProfileMetrics(metrics, plain.schedulerName),
        },
      ]),
    )
  }

  begin(queued: QueuedPod): Attempt {
    const { plain, timed, metrics } = this.#of(queued)
    const profile = ++this.#count % timedOneIn === 0 ? timed : plain
    return { queued, profile, stopwatch: new Stopwatch(metrics, this.#clock) }
  }

  bound({ queued, stopwatch }: Attempt): void {
    stopwatch.end('scheduled')
    const { attempts, firstAttemptMs = NaN, wasFlushed } = queued
    this.#of(queued).metrics.bound(attempts + 1, (this.#clock.monotonicMs() - firstAttemptMs) / 1000, wasFlushed)
  }

  #of({ pod: { spec } }: QueuedPod) {
    const found = this.#profiles.get(spec.schedulerName)
    if (found === undefined) throw new Error(`there is no profile ${spec.schedulerName}`)
    return found
  }
}
