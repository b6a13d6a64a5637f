// Attempt: one try to schedule a pod, and what is measured of it.
import type { Clock } from '../base/clock.ts'
import { ProfileMetrics, Stopwatch, type SchedulerMetrics } from './metrics.ts'
import type { Profile } from './profile.ts'
import type { Waiting } from './queue.ts'
import { timedProfile } from './timed-profile.ts'

export interface Attempt {
  readonly waiting: Waiting
  readonly profile: Profile
  readonly watch: Stopwatch
}

/** Of so many attempts one tells how long each plugin took. */
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

  begin(waiting: Waiting): Attempt {
    const { plain, timed, metrics } = this.#of(waiting)
    const profile = ++this.#count % timedOneIn === 0 ? timed : plain
    return { waiting, profile, watch: new Stopwatch(metrics, this.#clock) }
  }

  bound({ waiting, watch }: Attempt): void {
    watch.end('scheduled')
    const { attempts, firstTriedMs = NaN } = waiting
    this.#of(waiting).metrics.bound(attempts + 1, (this.#clock.monotonicMs() - firstTriedMs) / 1000)
  }

  #of({ pod: { spec } }: Waiting) {
    const found = this.#profiles.get(spec.schedulerName)
    if (found === undefined) throw new Error(`there is no profile ${spec.schedulerName}`)
    return found
  }
}
