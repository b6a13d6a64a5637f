// PriorityLevel: the requests of one level that run and those that wait, in queues of which each gets its turn.
import type { Clock } from '../../base/time/clock.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { offAbort, onAbort } from '../../base/async/on-abort.ts'
import { tooManyRequests } from '../request/too-many-requests.ts'
import type { SeatPool } from './seat-pool.ts'
import { dealHand } from './shuffle-shard.ts'

export interface LevelLimits {
  /** Its share of the server's seats. */
  readonly nominal: number
  /** Those of its share that it never lends. */
  readonly lower: number
  /** How many it may have with what it borrows. */
  readonly upper: number
  readonly queuing: { readonly queues: number; readonly handSize: number; readonly lengthMax: number } | undefined
}

export type Rejection = 'concurrency-limit' | 'queue-full' | 'time-out'

interface Waiting {
  readonly width: number
  start(): void
}

interface Queue {
  readonly waiting: Waiting[]
  /** Seats of its requests that run or wait. */
  load: number
  /** The level's virtual time at which its next request begins. */
  virtualStart: number
}

/** As upstream: a quarter of the time that a request has. */
const waitMsMax = 15_000
/** Flows whose hand is remembered. */
const handsMax = 10_000

export class PriorityLevel {
  readonly #pool: SeatPool
  readonly #clock: Clock
  readonly #queues = new Map<number, Queue>()
  /** Those in which something waits. */
  readonly #busy = new Set<Queue>()
  readonly #hands = new Map<string, readonly number[]>()
  #limits: LevelLimits
  #running = 0
  #waiting = 0
  #virtualTime = 0

  constructor(limits: LevelLimits, pool: SeatPool, clock: Clock) {
    this.#limits = limits
    this.#pool = pool
    this.#clock = clock
    pool.addCommitted(limits.lower)
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting
  }

  get isBelowShare(): boolean {
    return this.#running < this.#limits.nominal
  }

  /** New limits hold for requests from now on; those that run or wait stay. */
  resize(limits: LevelLimits): void {
    this.#pool.addCommitted(Math.max(this.#running, limits.lower) - Math.max(this.#running, this.#limits.lower))
    this.#limits = limits
    this.#hands.clear()
    this.dispatch()
  }

  /** Seats for a request, at once or in its turn; the returned function gives them back. */
  take(
    flow: string,
    asked: number,
    signal: AbortSignal,
    rejected: (reason: Rejection) => void,
  ): (() => void) | Promise<() => void> {
    const width = Math.max(1, Math.min(asked, this.#limits.nominal))
    if (this.#waiting === 0 && this.#seat(width)) return this.#leave(width, undefined)
    if (this.#limits.queuing === undefined) {
      if (this.#seat(width)) return this.#leave(width, undefined)
      rejected('concurrency-limit')
      throw tooManyRequests()
    }
    const queue = this.#queueFor(flow, this.#limits.queuing)
    if (queue.waiting.length >= this.#limits.queuing.lengthMax) {
      rejected('queue-full')
      throw tooManyRequests()
    }
    return this.#wait(queue, width, signal, rejected)
  }

  /** Starts what waits, as far as there are seats: the queue whose turn is longest due goes first. */
  dispatch(): void {
    while (this.#waiting > 0) {
      let next: Queue | undefined
      for (const queue of this.#busy) if (next === undefined || queue.virtualStart < next.virtualStart) next = queue
      const head = next?.waiting[0]
      if (next === undefined || head === undefined || !this.#seat(head.width)) return
      this.#virtualTime = next.virtualStart
      next.virtualStart += head.width
      next.waiting.shift()
      this.#count(next, -1)
      head.start()
    }
  }

  #seat(width: number): boolean {
    const { lower: kept, upper: most } = this.#limits
    if (this.#running > 0 && this.#running + width > most) return false
    if (!this.#pool.tryMove(kept, this.#running, this.#running + width)) return false
    this.#running += width
    return true
  }

  #leave(width: number, queue: Queue | undefined): () => void {
    return () => {
      this.#pool.tryMove(this.#limits.lower, this.#running, this.#running - width)
      this.#running -= width
      if (queue !== undefined) queue.load -= width
      this.#pool.onSeatsFreed(this)
    }
  }

  #count(queue: Queue, change: 1 | -1): void {
    if (queue.waiting.length > 0) this.#busy.add(queue)
    else this.#busy.delete(queue)
    this.#waiting += change
    this.#pool.setWaiting(this, this.#waiting > 0)
  }

  /** Of its hand the queue that has the least to do. */
  #queueFor(flow: string, { queues, handSize }: NonNullable<LevelLimits['queuing']>): Queue {
    let hand = this.#hands.get(flow)
    if (hand === undefined) {
      if (this.#hands.size >= handsMax) this.#hands.clear()
      hand = dealHand(flow, queues, handSize)
      this.#hands.set(flow, hand)
    }
    let best: Queue | undefined
    for (const index of hand) {
      const queue = getOrInsert(this.#queues, index, newQueue)
      if (best === undefined || queue.load < best.load) best = queue
    }
    return best ?? newQueue()
  }

  async #wait(
    queue: Queue,
    width: number,
    signal: AbortSignal,
    rejected: (reason: Rejection) => void,
  ): Promise<() => void> {
    // A queue that was idle has saved up no turns.
    if (queue.waiting.length === 0) queue.virtualStart = Math.max(queue.virtualStart, this.#virtualTime)
    const turn = Promise.withResolvers<void>()
    const entry: Waiting = { width, start: turn.resolve }
    const giveUp = (error: unknown, reason?: Rejection) => {
      const place = queue.waiting.indexOf(entry)
      if (place < 0) return // its turn has come
      if (reason !== undefined) rejected(reason)
      queue.waiting.splice(place, 1)
      queue.load -= width
      this.#count(queue, -1)
      turn.reject(error)
    }
    const gone = () => giveUp(signal.reason)
    const timer = this.#clock.after(waitMsMax, () => giveUp(tooManyRequests(), 'time-out'))
    queue.waiting.push(entry)
    queue.load += width
    this.#count(queue, 1)
    onAbort(signal, gone)
    this.dispatch()
    try {
      await turn.promise
      return this.#leave(width, queue)
    } finally {
      timer.cancel()
      offAbort(signal, gone)
    }
  }
}

const newQueue = (): Queue => ({ waiting: [], load: 0, virtualStart: 0 })
