// LegacyTokenUsage: a queue of the Secrets whose tokens were used today and whose last-used label is not up to date. Another
// component writes the label.
import { dayOf, type Clock } from '../../base/time/clock.ts'
import { noCause } from '../../base/observability/flow-recorder.ts'
import { WorkQueue } from '../../base/work/work-queue.ts'
import { lastUsedLabel } from '../../api/core/v1/account-token-secret.ts'
import type { Secret } from '../../api/core/v1/secret.ts'
import { keyOf } from '../../api/meta/object.ts'

export class LegacyTokenUsage {
  readonly queue: WorkQueue<string>
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
    this.queue = new WorkQueue(clock)
  }

  get today(): string {
    return dayOf(this.#clock.nowMs())
  }

  /** Called at each use. */
  record(stored: Secret): void {
    if (stored.metadata.labels?.[lastUsedLabel] !== this.today) this.queue.add(keyOf(stored), noCause)
  }
}
