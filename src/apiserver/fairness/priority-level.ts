// PriorityLevel: the running and waiting requests of one level. Waiting requests are in queues, which are dispatched
// fairly.
import { ownText } from '../../base/text/own-text.ts'
import type { Clock } from '../../base/time/clock.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { offAbort, onAbort } from '../../base/async/on-abort.ts'
import { TooManyRequests } from '../request/too-many-requests.ts'
import type { SeatPool } from './seat-pool.ts'
import { dealHand } from './shuffle-shard.ts'

export interface LevelLimits {
  /** The level's share of the server's seats. */
  readonly nominal: number
  /** The seats that it does not lend. */
  readonly lower: number
  /** The maximum with borrowed seats. */
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
  /** The seats of its running and waiting requests. */
  load: number
  /** The virtual time at which its next request starts. */
  virtualStart: number
}

/** As upstream: a quarter of the request timeout. */
const waitMsMax = 15_000
/** The number of flows whose hand is cached. */
const handsMax = 10_000
/** Hands of flows with longer names are dealt again for each request. */
const flowCharsMax = 512

export class PriorityLevel {
  readonly #pool: SeatPool
  readonly #clock: Clock
  readonly #queues = new Map<number, Queue>()
  /** Queues with waiting requests. */
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

  /** New limits apply to new requests; running and waiting ones are not affected. */
  resize(limits: LevelLimits): void {
    this.#pool.addCommitted(Math.max(this.#running, limits.lower) - Math.max(this.#running, this.#limits.lower))
    this.#limits = limits
    this.#hands.clear()
    this.dispatch()
  }

  /**
   * Takes seats for a request, immediately or after a wait. The returned function releases them. `enqueued` gets the length
   * of the request's queue; that of one that starts immediately has been 1 for a moment.
   */
  take(
    flow: string,
    requested: number,
    signal: AbortSignal,
    rejected: (reason: Rejection) => void,
    enqueued: (length: number) => void = () => {},
  ): (() => void) | Promise<() => void> {
    const width = Math.max(1, Math.min(requested, this.#limits.nominal))
    if (this.#waiting === 0 && this.#seat(width)) {
      if (this.#limits.queuing !== undefined) enqueued(1)
      return this.#leave(width, undefined)
    }
    if (this.#limits.queuing === undefined) {
      if (this.#seat(width)) return this.#leave(width, undefined)
      rejected('concurrency-limit')
      throw new TooManyRequests('fairness')
    }
    const queue = this.#queueFor(flow, this.#limits.queuing)
    if (queue.waiting.length >= this.#limits.queuing.lengthMax) {
      rejected('queue-full')
      throw new TooManyRequests('fairness')
    }
    enqueued(queue.waiting.length + 1)
    return this.#wait(queue, width, signal, rejected)
  }

  /** Starts waiting requests while there are seats. The queue with the earliest virtual start goes first. */
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
    const { lower, upper } = this.#limits
    if (this.#running > 0 && this.#running + width > upper) return false
    if (!this.#pool.tryMove(lower, this.#running, this.#running + width)) return false
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

  /** The queue of the flow's hand with the smallest load. */
  #queueFor(flow: string, { queues, handSize }: NonNullable<LevelLimits['queuing']>): Queue {
    let hand = this.#hands.get(flow)
    if (hand === undefined) {
      if (this.#hands.size >= handsMax) this.#hands.clear()
      hand = dealHand(flow, queues, handSize)
      // Clients choose the namespaces that distinguish flows.
      if (flow.length <= flowCharsMax) this.#hands.set(ownText(flow), hand)
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
    // An idle queue does not accumulate credit.
    if (queue.waiting.length === 0) queue.virtualStart = Math.max(queue.virtualStart, this.#virtualTime)
    const turn = Promise.withResolvers<void>()
    const entry: Waiting = { width, start: turn.resolve }
    const abandon = (error: unknown, reason?: Rejection) => {
      const place = queue.waiting.indexOf(entry)
      if (place < 0) return // it has been dispatched
      if (reason !== undefined) rejected(reason)
      queue.waiting.splice(place, 1)
      queue.load -= width
      this.#count(queue, -1)
      turn.reject(error)
    }
    const abandonOnAbort = () => abandon(signal.reason)
    const timer = this.#clock.after(waitMsMax, () => abandon(new TooManyRequests('fairness'), 'time-out'))
    queue.waiting.push(entry)
    queue.load += width
    this.#count(queue, 1)
    onAbort(signal, abandonOnAbort)
    this.dispatch()
    try {
      await turn.promise
      return this.#leave(width, queue)
    } finally {
      timer.cancel()
      offAbort(signal, abandonOnAbort)
    }
  }
}

const newQueue = (): Queue => ({ waiting: [], load: 0, virtualStart: 0 })
