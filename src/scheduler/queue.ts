// SchedulingQueue: pods that wait for a node. Active ones are next; those that failed wait out a back-off; those that
// nothing fits wait for an event that can help them, or for a while.
import type { Clock, Timer } from '../base/clock.ts'
import { mergeCauses, type Cause } from '../base/flow.ts'
import { backoffMs, type Backoff } from '../base/work-queue.ts'
import { keyOf, type ObjectKey } from '../api/object.ts'
import type { Pod } from '../api/core/v1/pod.ts'

export interface Waiting {
  readonly pod: Pod
  readonly cause: Cause
  readonly attempts: number
  /** Which plugins rejected it the last time. */
  readonly rejectedBy: ReadonlySet<string>
}

type Place = 'active' | 'backoff' | 'unschedulable'

interface Entry {
  waiting: Waiting
  place: Place
  timer: Timer | undefined
  sequence: number
}

const podBackoff: Backoff = { initialMs: 1000, maxMs: 10_000 }
/** A pod that no event has helped for so long is tried again all the same. */
const unschedulableMsMax = 300_000

export class SchedulingQueue {
  readonly #clock: Clock
  readonly #before: (a: Pod, b: Pod) => number
  // Invariant: every waiting pod is in exactly one place; a pod that is being scheduled is in none.
  readonly #entries = new Map<ObjectKey, Entry>()
  #sequence = 0
  #waiter: ((waiting: Waiting | undefined) => void) | undefined

  constructor(clock: Clock, before: (a: Pod, b: Pod) => number) {
    this.#clock = clock
    this.#before = before
  }

  get size(): number {
    return this.#entries.size
  }

  /** A new pod, or a newer version of one that waits. */
  add(pod: Pod, cause: Cause): void {
    const key = keyOf(pod)
    const known = this.#entries.get(key)
    if (known === undefined) return this.#put(key, { pod, cause, attempts: 0, rejectedBy: new Set() }, 'active', 0)
    known.waiting = { ...known.waiting, pod }
  }

  remove(key: ObjectKey): void {
    this.#entries.get(key)?.timer?.cancel()
    this.#entries.delete(key)
  }

  /** Back after a failure that is not the pod's fault: a conflict, an error. */
  retry(waiting: Waiting): void {
    const attempts = waiting.attempts + 1
    this.#put(
      keyOf(waiting.pod),
      { ...waiting, attempts, rejectedBy: new Set() },
      'backoff',
      backoffMs(podBackoff, waiting.attempts),
    )
  }

  /** Nothing fits: waits for an event that one of the plugins that said no hopes for. */
  park(waiting: Waiting, rejectedBy: ReadonlySet<string>): void {
    this.#put(
      keyOf(waiting.pod),
      { ...waiting, attempts: waiting.attempts + 1, rejectedBy },
      'unschedulable',
      unschedulableMsMax,
    )
  }

  /** Moves the parked pods that the event can help. */
  wake(canHelp: (waiting: Waiting) => boolean, cause: Cause): void {
    for (const [key, { place, waiting }] of [...this.#entries]) {
      if (place !== 'unschedulable' || !canHelp(waiting)) continue
      const woken = { ...waiting, cause: mergeCauses([waiting.cause, cause]) }
      this.#put(key, woken, 'backoff', backoffMs(podBackoff, waiting.attempts - 1))
    }
  }

  /** The next pod; undefined when aborted. One caller at a time. */
  take(signal: AbortSignal): Promise<Waiting | undefined> {
    const next = signal.aborted ? undefined : this.#first()
    if (next !== undefined || signal.aborted) return Promise.resolve(next)
    return new Promise((resolve) => {
      const leave = () => this.#waiter?.(undefined)
      this.#waiter = (waiting) => {
        this.#waiter = undefined
        signal.removeEventListener('abort', leave)
        resolve(waiting)
      }
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  close(): void {
    for (const { timer } of this.#entries.values()) timer?.cancel()
    this.#entries.clear()
    this.#waiter?.(undefined)
  }

  #put(key: ObjectKey, waiting: Waiting, place: Place, ms: number): void {
    this.#entries.get(key)?.timer?.cancel()
    const timer =
      place === 'active'
        ? undefined
        : this.#clock.after(ms, () => this.#put(key, this.#latest(key, waiting), 'active', 0))
    this.#entries.set(key, { waiting, place, timer, sequence: this.#sequence++ })
    if (place !== 'active' || this.#waiter === undefined) return
    const next = this.#first()
    if (next !== undefined) this.#waiter(next)
  }

  #latest(key: ObjectKey, waiting: Waiting): Waiting {
    return this.#entries.get(key)?.waiting ?? waiting
  }

  #first(): Waiting | undefined {
    let best: [ObjectKey, Entry] | undefined
    for (const candidate of this.#entries) {
      if (candidate[1].place !== 'active') continue
      if (best === undefined || this.#isBefore(candidate[1], best[1])) best = candidate
    }
    if (best === undefined) return undefined
    this.#entries.delete(best[0])
    return best[1].waiting
  }

  #isBefore(a: Entry, b: Entry): boolean {
    return (this.#before(a.waiting.pod, b.waiting.pod) || a.sequence - b.sequence) < 0
  }
}
