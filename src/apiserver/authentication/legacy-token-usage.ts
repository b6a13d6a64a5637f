// LegacyTokenUses: which tokens kept in Secrets were used today and do not say so yet. Who writes it down is not the
// authenticator's business: it notes, and forgets nothing that was not taken.
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

  /** Called at each use: all but the first of a day cost a comparison. */
  record(kept: Secret): void {
    if (kept.metadata.labels?.[lastUsedLabel] !== this.today) this.queue.add(keyOf(kept), noCause)
  }
}
