// PacedRequests: requests that block the event loop for long, because their bodies are large or their user's last
// requests were slow. A few are handled at a time, round-robin by user, and the event loop handles other work between
// their steps. Those that wait have no seats of priority and fairness: lists have several, and would keep others waiting.
import type { Clock } from '../../base/time/clock.ts'
import { offAbort, onAbort } from '../../base/async/on-abort.ts'
import { PacedTurns } from '../../base/work/paced-turns.ts'
import type { RequestSeat } from './request-seat.ts'
import { tooManyRequests } from './too-many-requests.ts'

/** Each holds a parsed object in memory. There is more than one, because a request may wait for a webhook. */
const servedMax = 4
/** One is left for other users, because a request may take seconds. */
const servedPerUserMax = 3
const waitingMax = 64
const waitingPerUserMax = 32

/** Waits for the request's next step. */
export type Pace = () => Promise<void>

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
  async run<T>(
    user: string,
    signal: AbortSignal,
    work: (pace: Pace) => T | Promise<T>,
    seat?: RequestSeat,
  ): Promise<T> {
    const waits = !this.#mayServe(user)
    if (waits) {
      seat?.leave()
      await this.#wait(user, signal)
    } else this.#count(user, 1)
    try {
      if (waits) await seat?.takeAgain()
      await this.#turns.take()
      signal.throwIfAborted()
      return await work(() => this.#turns.take())
    } finally {
      this.#count(user, -1)
      this.#startNext()
    }
  }

  /** Throws 429 when too many requests wait, so that a request is rejected before its body is read. */
  checkSpace(user: string): void {
    if (this.#waitingCount >= waitingMax || (this.#waiting.get(user)?.length ?? 0) >= waitingPerUserMax)
      throw tooManyRequests()
  }

  #wait(user: string, signal: AbortSignal): Promise<void> {
    this.checkSpace(user)
    const line = this.#waiting.get(user) ?? []
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
