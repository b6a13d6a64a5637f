// Progress: how a watch learns that it has seen everything up to a revision although nothing of its own happened.
// etcd is asked on the watch stream; its answers carry no name, and may be missing while a watch catches up.
import type { Clock, Timer } from '../../base/time/clock.ts'

/** Before these versions etcd could report a revision whose events were still to come. */
export function hasReliableProgress(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  if (major !== 3) return major > 3
  if (minor === 4) return patch >= 31
  if (minor === 5) return patch >= 13
  return minor > 5
}

/** The events that show the progress are mostly on their way already. */
const requestAfterMs = 5
const requestAgainMs = 100
/** An answer that has not come after this time is taken for missing. */
const responseMsMax = 5_000

export class ProgressRequester {
  readonly #clock: Clock
  readonly #request: () => void
  readonly #isBehind: (revision: number) => boolean
  #required = 0
  /** Every watch was seen to be there. */
  #reached = 0
  #timer: Timer | undefined
  #outstanding = 0
  #requestedMs = 0

  constructor(clock: Clock, request: () => void, isBehind: (revision: number) => boolean) {
    this.#clock = clock
    this.#request = request
    this.#isBehind = isBehind
  }

  /** How many answers may still come to questions that were asked before now. */
  get outstanding(): number {
    if (this.#clock.monotonicMs() - this.#requestedMs > responseMsMax) this.#outstanding = 0
    return this.#outstanding
  }

  /** There is this revision: every watch should reach it. */
  requireRevision(revision: number): void {
    this.#required = Math.max(this.#required, revision)
    if (this.#required > this.#reached) this.#timer ??= this.#requestAfter(requestAfterMs)
  }

  /** There is a watch that may be behind. */
  recheck(): void {
    this.#reached = 0
    this.requireRevision(0)
  }

  onResponse(): void {
    this.#outstanding = Math.max(0, this.#outstanding - 1)
  }

  /** On a new stream nothing has been asked. */
  reset(): void {
    this.#outstanding = 0
  }

  stop(): void {
    this.#timer?.cancel()
  }

  #requestAfter(ms: number): Timer {
    return this.#clock.after(ms, () => {
      this.#timer = undefined
      const required = this.#required
      if (!this.#isBehind(required)) this.#reached = required
      else {
        this.#outstanding = this.outstanding + 1
        this.#requestedMs = this.#clock.monotonicMs()
        this.#request()
        this.#timer = this.#requestAfter(requestAgainMs)
      }
    })
  }
}
