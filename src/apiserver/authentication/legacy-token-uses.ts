// LegacyTokenUses: which tokens kept in Secrets were used today and do not say so yet. Who writes it down is not the
// authenticator's business: it notes, and forgets nothing that was not taken.
import { dayOf, type Clock } from '../../base/clock.ts'
import { noCause } from '../../base/flow.ts'
import { WorkQueue } from '../../base/work-queue.ts'
import { lastUsedLabel } from '../../api/core/v1/account-token-secret.ts'
import type { Secret } from '../../api/core/v1/secret.ts'
import { keyOf } from '../../api/object.ts'

export class LegacyTokenUses {
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
  note(kept: Secret): void {
    if (kept.metadata.labels?.[lastUsedLabel] !== this.today) this.queue.add(keyOf(kept), noCause)
  }
}
