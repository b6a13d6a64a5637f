// PacedRequests: requests that block the event loop for long, because their bodies are large or their user's last
// requests were slow. A few are handled at a time, round-robin by user, and the event loop handles other work between
// their steps. Those that wait have no seats of priority and fairness: lists have several, and would keep others waiting.
// The bytes of their bodies are counted by the listener, which sheds what is too much.
import type { Clock } from '../../base/time/clock.ts'
import { offAbort, onAbort } from '../../base/async/on-abort.ts'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import { PacedTurns } from '../../base/work/paced-turns.ts'
import { TooManyRequests } from './too-many-requests.ts'

/** Each holds a parsed object in memory. There is more than one, because a request may wait for a webhook. */
const servedMax = 4
/** One is left for other users, because a request may take seconds. */
const servedPerUserMax = 3
/** As many as upstream handles and queues: a user within these limits waits and is not rejected. */
const waitingMax = 2_000
const waitingPerUserMax = 600

/** Waits for the request's next step. */
export type Pace = () => Promise<void>

/** The seat of a request. */
export interface PacedSeat {
  takeSeat(): MaybePromise<void>
  leaveSeat(): void
}

interface Waiting {
  readonly start: () => void
}

export class PacedRequests {
  readonly #turns: PacedTurns
  /** By user, in round-robin order. */
  readonly #waiting = new Map<string, Waiting[]>()
  #waitingCount = 0
  /** By user. */
  readonly #served = new Map<string, number>()
  #servedCount = 0

  constructor(clock: Clock) {
    this.#turns = new PacedTurns(clock)
  }

  /** Runs the work in the user's turn. Throws 429 when too many requests wait. */
  async run<T>(user: string, seat: PacedSeat, signal: AbortSignal, work: (pace: Pace) => MaybePromise<T>): Promise<T> {
    const waits = !this.#mayServe(user)
    if (waits) {
      seat.leaveSeat()
      await this.#wait(user, signal)
    } else this.#count(user, 1)
    try {
      if (waits) await seat.takeSeat()
      await this.#turns.take()
      signal.throwIfAborted()
      return await work(() => this.#turns.take())
    } finally {
      this.#count(user, -1)
      this.#startNext()
    }
  }

  #wait(user: string, signal: AbortSignal): Promise<void> {
    const line = this.#waiting.get(user) ?? []
    if (this.#waitingCount >= waitingMax || line.length >= waitingPerUserMax) throw new TooManyRequests('long-requests')
    return new Promise((resolve, reject) => {
      const abort = () => {
        line.splice(line.indexOf(waiting), 1)
        if (line.length === 0) this.#waiting.delete(user)
        this.#waitingCount--
        reject(signal.reason as Error)
      }
      const waiting: Waiting = {
        start() {
          offAbort(signal, abort)
          resolve()
        },
      }
      line.push(waiting)
      this.#waiting.set(user, line)
      this.#waitingCount++
      onAbort(signal, abort)
    })
  }

  #mayServe(user: string): boolean {
    return this.#servedCount < servedMax && (this.#served.get(user) ?? 0) < servedPerUserMax
  }

  #count(user: string, change: 1 | -1): void {
    const served = (this.#served.get(user) ?? 0) + change
    if (served === 0) this.#served.delete(user)
    else this.#served.set(user, served)
    this.#servedCount += change
  }

  /** The next user in the order takes the slot; the user's other requests queue behind those of all others. */
  #startNext(): void {
    for (const [user, line] of this.#waiting) {
      if (!this.#mayServe(user)) continue
      this.#waiting.delete(user)
      const first = line.shift()
      if (line.length > 0) this.#waiting.set(user, line)
      this.#waitingCount--
      this.#count(user, 1)
      first?.start()
      return
    }
  }
}
