// Watch progress: how a watch learns that it has received everything up to a revision that changed none of its keys.
// Progress is requested on the stream. Its responses do not identify the request, and may be missing while a watch
// catches up.
import type { Clock, Timer } from '../../base/time/clock.ts'

/** Older versions could report a revision whose events had not been sent yet. */
export function hasReliableProgress(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  if (major !== 3) return major > 3
  if (minor === 4) return patch >= 31
  if (minor === 5) return patch >= 13
  return minor > 5
}

/** The events that show the progress are usually about to arrive. */
const requestAfterMs = 5
const requestAgainMs = 100
/** A response that has not arrived within this time is considered lost. */
const responseMsMax = 5_000

export class ProgressRequester {
  readonly #clock: Clock
  readonly #request: () => void
  readonly #isBehind: (revision: number) => boolean
  #required = 0
  /** All watches were known to have reached this revision. */
  #reached = 0
  #timer: Timer | undefined
  #outstanding = 0
  #requestedMs = 0

  constructor(clock: Clock, request: () => void, isBehind: (revision: number) => boolean) {
    this.#clock = clock
    this.#request = request
    this.#isBehind = isBehind
  }

  /** How many responses to earlier requests may still arrive. */
  get outstanding(): number {
    if (this.#clock.monotonicMs() - this.#requestedMs > responseMsMax) this.#outstanding = 0
    return this.#outstanding
  }

  /** This revision exists: every watch should reach it. */
  requireRevision(revision: number): void {
    this.#required = Math.max(this.#required, revision)
    if (this.#required > this.#reached) this.#timer ??= this.#requestAfter(requestAfterMs)
  }

  /** A watch that may be behind was added. */
  recheck(): void {
    this.#reached = 0
    this.requireRevision(0)
  }

  onResponse(): void {
    this.#outstanding = Math.max(0, this.#outstanding - 1)
  }

  /** Nothing has been requested on a new stream. */
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
