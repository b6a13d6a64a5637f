// FairTurns: starts the work of many clients, a few in each turn of the event loop. While work waits, each client has one
// start in a round. A client of whose work nothing waits does not wait for the others: its work is started at once, or first
// in the next turn if that was done for several clients already. So a client with much work does not delay the others.
import { onNextTurn } from '../async/event-loop-turn.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import type { Clock } from '../time/clock.ts'

/** How long a turn should take while several clients have work. */
const turnMs = 5
/** Of one client alone with asynchronous work: what is started together is cheaper, such as writes that share a sync. */
const loneTurnMs = 15
/** Clients whose work is started at once in a turn without time. */
const lateStartsMax = 8
/** Then one of the others is served. Otherwise a steady stream of new clients would delay it indefinitely. */
const freshInARowMax = 8

export class FairTurns<Client> {
  readonly #clock: Clock
  readonly #isAsynchronous: boolean
  readonly #startsMin: number
  /** Clients whose work waits and has not been started since it waits; they come first. */
  readonly #fresh = new Map<Client, (() => void)[]>()
  readonly #others = new Map<Client, (() => void)[]>()
  /** Since when this turn lasts, and what was started in it. */
  #sinceMs = 0
  #started = 0
  /** Whose work was started in this turn, and whether that were several clients in the last one. */
  readonly #served = new Set<Client>()
  #wasShared = false
  /** How many may be started in a turn. */
  #startsMax = Infinity
  #isPlanned = false
  #freshInARow = 0
  #lateStarts = 0

  /** `asynchronous`: most of the work is done after its start. At least `startsMin` are started in a turn, however slow it is. */
  constructor(clock: Clock, kind: 'synchronous' | 'asynchronous' = 'synchronous', startsMin = 1) {
    this.#clock = clock
    this.#isAsynchronous = kind === 'asynchronous'
    this.#startsMin = startsMin
  }

  /** Starts the work at once if there is time and nothing waits. It must not throw. */
  start(client: Client, work: () => void): void {
    if (this.#mayStart(client)) work()
    else this.#wait(client, work)
  }

  /** The result of work that is started in the client's turn; synchronous if there is time and nothing waits. */
  run<T>(client: Client, work: () => MaybePromise<T>): MaybePromise<T> {
    if (this.#mayStart(client)) return work()
    return new Promise((resolve, reject) =>
      this.#wait(client, () => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      }),
    )
  }

  #mayStart(client: Client): boolean {
    if (!this.#isPlanned) {
      // Nothing waits, and the turn has just begun.
      this.#begin(this.#clock.monotonicMs())
      this.#plan()
    } else if ((this.#isWaiting || !this.#hasTime) && !this.#mayStartLate(client)) return false
    this.#count(client)
    return true
  }

  #mayStartLate(client: Client): boolean {
    if (this.#lateStarts === lateStartsMax) return false
    if (this.#served.has(client) || this.#fresh.has(client) || this.#others.has(client)) return false
    this.#lateStarts++
    return true
  }

  #count(client: Client): void {
    this.#started++
    this.#served.add(client)
  }

  #wait(client: Client, work: () => void): void {
    const waiting = this.#fresh.get(client) ?? this.#others.get(client)
    if (waiting === undefined) this.#fresh.set(client, [work])
    else waiting.push(work)
  }

  get #isWaiting(): boolean {
    return this.#fresh.size + this.#others.size > 0
  }

  get #hasTime(): boolean {
    if (this.#started < this.#startsMin) return true
    return this.#started < this.#startsMax && this.#clock.monotonicMs() < this.#sinceMs + this.#turnMs
  }

  get #turnMs(): number {
    const isLone = this.#served.size < 2 && !this.#wasShared && this.#fresh.size + this.#others.size < 2
    return isLone && this.#isAsynchronous ? loneTurnMs : turnMs
  }

  #begin(nowMs: number): void {
    this.#sinceMs = nowMs
    this.#started = 0
    this.#wasShared = this.#served.size > 1
    this.#served.clear()
    this.#lateStarts = 0
  }

  #plan(): void {
    this.#isPlanned = true
    onNextTurn(this.#slice)
  }

  readonly #slice = (): void => {
    const nowMs = this.#clock.monotonicMs()
    // If the last turn took long, for whatever reason, less is started in this one.
    if (this.#isAsynchronous && this.#started > 0)
      this.#startsMax = Math.max(this.#startsMin, Math.floor((this.#turnMs * this.#started) / (nowMs - this.#sinceMs)))
    this.#begin(nowMs)
    while (this.#isWaiting && this.#hasTime) this.#startNext()
    this.#isPlanned = false
    if ((this.#isAsynchronous && this.#started > 0) || this.#isWaiting) this.#plan()
  }

  #startNext(): void {
    const isFresh = this.#fresh.size > 0 && (this.#others.size === 0 || this.#freshInARow < freshInARowMax)
    this.#freshInARow = isFresh ? this.#freshInARow + 1 : 0
    const clients = isFresh ? this.#fresh : this.#others
    for (const [client, works] of clients) {
      const work = works.shift()
      clients.delete(client)
      if (works.length > 0) this.#others.set(client, works)
      this.#count(client)
      return work?.()
    }
  }
}
