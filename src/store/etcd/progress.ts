// Progress: how a watch learns that it has seen everything up to a revision although nothing of its own happened.
// etcd is asked on the watch stream; its answers carry no name, and may be missing while a watch catches up.
import type { Clock, Timer } from '../../base/clock.ts'

/** Before these versions etcd could report a revision whose events were still to come. */
export function isProgressRight(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  if (major !== 3) return major > 3
  if (minor === 4) return patch >= 31
  if (minor === 5) return patch >= 13
  return minor > 5
}

/** The events that show the progress are mostly on their way already. */
const askAfterMs = 5
const askAgainMs = 100
/** An answer that has not come after this time is taken for missing. */
const answerMsMax = 5_000

export class ProgressAsker {
  readonly #clock: Clock
  readonly #ask: () => void
  readonly #isBehind: (revision: number) => boolean
  #wanted = 0
  /** Every watch was seen to be there. */
  #reached = 0
  #timer: Timer | undefined
  #unanswered = 0
  #askedMs = 0

  constructor(clock: Clock, ask: () => void, isBehind: (revision: number) => boolean) {
    this.#clock = clock
    this.#ask = ask
    this.#isBehind = isBehind
  }

  /** How many answers may still come to questions that were asked before now. */
  get unanswered(): number {
    if (this.#clock.monotonicMs() - this.#askedMs > answerMsMax) this.#unanswered = 0
    return this.#unanswered
  }

  /** There is this revision: every watch should reach it. */
  want(revision: number): void {
    this.#wanted = Math.max(this.#wanted, revision)
    if (this.#wanted > this.#reached) this.#timer ??= this.#askIn(askAfterMs)
  }

  /** There is a watch that may be behind. */
  wantAgain(): void {
    this.#reached = 0
    this.want(0)
  }

  answered(): void {
    this.#unanswered = Math.max(0, this.#unanswered - 1)
  }

  /** On a new stream nothing has been asked. */
  reset(): void {
    this.#unanswered = 0
  }

  stop(): void {
    this.#timer?.cancel()
  }

  #askIn(ms: number): Timer {
    return this.#clock.after(ms, () => {
      this.#timer = undefined
      const wanted = this.#wanted
      if (!this.#isBehind(wanted)) this.#reached = wanted
      else {
        this.#unanswered = this.unanswered + 1
        this.#askedMs = this.#clock.monotonicMs()
        this.#ask()
        this.#timer = this.#askIn(askAgainMs)
      }
    })
  }
}
