// PacedRequests: requests that block the event loop for long, because their bodies are large or their user's last
// requests were slow. A few are handled at a time, round-robin by user, and the event loop handles other work between
// their steps.
import type { Clock } from '../../base/time/clock.ts'
import { offAbort, onAbort } from '../../base/async/on-abort.ts'
import { PacedTurns } from '../../base/work/paced-turns.ts'
import { tooManyRequests } from './too-many-requests.ts'

/** Each holds a parsed object in memory. There is more than one, because a request may wait for a webhook. */
const servedMax = 4
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
  #served = 0

  constructor(clock: Clock) {
    this.#turns = new PacedTurns(clock)
  }

  /** Runs the work in the user's turn. Throws 429 when too many requests wait. */
  async run<T>(user: string, signal: AbortSignal, work: (pace: Pace) => T | Promise<T>): Promise<T> {
    if (this.#served >= servedMax) await this.#wait(user, signal)
    else this.#served++
    try {
      await this.#turns.take()
      signal.throwIfAborted()
      return await work(() => this.#turns.take())
    } finally {
      this.#leave()
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

  /** The next user in the order takes the slot; the user's other requests queue behind those of all others. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#served--
      return
    }
    const [user, line] = next
    this.#waiting.delete(user)
    const first = line.shift()
    if (line.length > 0) this.#waiting.set(user, line)
    this.#waitingCount--
    first?.start()
  }
}
