// WorkQueue: keys that wait for a worker, with delays and backoff. Guarantees:
// - one worker per key: a key that was handed out is not handed out again before done(key);
// - no change is lost: a key that is added while a worker has it is queued again after done(key);
// - changes are merged: a key that is added twice before its turn is handed out once, with both causes.
import { assert } from '../assert.ts'
import { Fifo } from '../collections/fifo.ts'
import type { Clock, Timer } from '../time/clock.ts'
import { mergeCauses, noCause, type Cause } from '../observability/flow-recorder.ts'
import { offAbort, onAbort } from '../async/on-abort.ts'

export interface Backoff {
  readonly initialMs: number
  readonly maxMs: number
}

/** 5 ms doubling to 1,000 s, as upstream's controllers retry. */
export const controllerBackoff: Backoff = { initialMs: 5, maxMs: 1_000_000 }

export const backoffMs = (backoff: Backoff, failures: number): number =>
  Math.min(backoff.initialMs * 2 ** Math.min(failures, 52), backoff.maxMs)

export interface Work<Key> {
  readonly key: Key
  readonly cause: Cause
  /** When the key was first added for this run; the wait is the queue's latency. */
  readonly addedMs: number
}

interface Pending {
  addedMs: number
  causes: Cause[]
}

interface Delayed {
  readonly dueMs: number
  readonly timer: Timer
  cause: Cause
}

const causesPerKeyMax = 16

export class WorkQueue<Key> {
  readonly #clock: Clock
  readonly #backoff: Backoff
  // Invariant: #pending has all keys that need work; #ready are those of them that no worker has, in order of arrival;
  // #working are the keys that workers have. A key is never in both #ready and #working.
  readonly #pending = new Map<Key, Pending>()
  readonly #ready = new Fifo<Key>()
  readonly #working = new Set<Key>()
  readonly #delayed = new Map<Key, Delayed>()
  readonly #failures = new Map<Key, number>()
  readonly #waiters: ((work: Work<Key> | undefined) => void)[] = []
  #closed = false

  constructor(clock: Clock, backoff: Backoff = controllerBackoff) {
    this.#clock = clock
    this.#backoff = backoff
  }

  /** Number of keys that wait for a worker. */
  get depth(): number {
    return this.#ready.size
  }

  /** Whether no key is ready or being worked on; delayed keys do not count. */
  get idle(): boolean {
    return this.#ready.size === 0 && this.#working.size === 0
  }

  add(key: Key, cause: Cause = noCause): void {
    if (this.#closed) return
    const pending = this.#pending.get(key)
    if (pending !== undefined) {
      if (pending.causes.length < causesPerKeyMax && cause !== noCause) pending.causes.push(cause)
      return
    }
    this.#pending.set(key, { addedMs: this.#clock.nowMs(), causes: cause === noCause ? [] : [cause] })
    if (this.#working.has(key)) return
    this.#ready.push(key)
    this.#serve()
  }

  /**
   * Adds the key after a delay; the earlier of two delays counts. A request for a later time replaces the cause,
   * because the key was processed in the meantime.
   */
  addAfter(key: Key, delayMs: number, cause: Cause = noCause): void {
    if (this.#closed) return
    if (delayMs <= 0) return this.add(key, cause)
    const dueMs = this.#clock.monotonicMs() + delayMs
    const delayed = this.#delayed.get(key)
    if (delayed !== undefined && delayed.dueMs <= dueMs) {
      if (delayed.dueMs < dueMs) delayed.cause = cause
      return
    }
    delayed?.timer.cancel()
    const timer = this.#clock.after(delayMs, () => {
      this.#delayed.delete(key)
      this.add(key, own.cause)
    })
    const own: Delayed = { dueMs, timer, cause }
    this.#delayed.set(key, own)
  }

  /** Adds the key after its backoff, which doubles with each call until forget(key). */
  retry(key: Key, cause: Cause = noCause): void {
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    this.addAfter(key, backoffMs(this.#backoff, failures), cause)
  }

  /** Number of retries since the last forget(key). */
  retries(key: Key): number {
    return this.#failures.get(key) ?? 0
  }

  forget(key: Key): void {
    this.#failures.delete(key)
  }

  /** The next key; undefined once the queue is closed. done(key) must follow. */
  take(signal: AbortSignal): Promise<Work<Key> | undefined> {
    if (this.#closed || signal.aborted) return Promise.resolve(undefined)
    const work = this.#next()
    if (work !== undefined) return Promise.resolve(work)
    return new Promise((resolve) => {
      const give = (next: Work<Key> | undefined) => {
        offAbort(signal, leave)
        resolve(next)
      }
      const leave = () => {
        this.#waiters.splice(this.#waiters.indexOf(give), 1)
        resolve(undefined)
      }
      onAbort(signal, leave)
      this.#waiters.push(give)
    })
  }

  /** Discards pending additions without a cause: the worker that has the key is about to read the current state. */
  acknowledge(key: Key): void {
    if (this.#working.has(key) && this.#pending.get(key)?.causes.length === 0) this.#pending.delete(key)
  }

  done(key: Key): void {
    assert(this.#working.delete(key), 'done() was called for a key that no worker holds')
    if (!this.#pending.has(key) || this.#closed) return
    this.#ready.push(key)
    this.#serve()
  }

  /** Closes the queue: waiting workers get undefined, timers are cancelled, nothing more is handed out. */
  close(): void {
    this.#closed = true
    for (const { timer } of this.#delayed.values()) timer.cancel()
    this.#delayed.clear()
    this.#ready.clear()
    this.#pending.clear()
    for (const give of this.#waiters.splice(0)) give(undefined)
  }

  #serve(): void {
    while (this.#waiters.length > 0) {
      const work = this.#next()
      if (work === undefined) return
      this.#waiters.shift()?.(work)
    }
  }

  #next(): Work<Key> | undefined {
    if (this.#ready.size === 0) return undefined
    const key = this.#ready.shift() as Key
    const pending = this.#pending.get(key)
    assert(pending !== undefined && !this.#working.has(key), 'a ready key is pending and not worked on')
    this.#pending.delete(key)
    this.#working.add(key)
    return { key, cause: mergeCauses(pending.causes), addedMs: pending.addedMs }
  }
}
