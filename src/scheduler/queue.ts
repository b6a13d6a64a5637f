// SchedulingQueue: pods that wait for a node. Active ones are next; those that failed wait out a back-off; those that
// nothing fits wait for an event that can help them, or for a while; gated ones wait until they are let in.
import { offAbort, onAbort } from '../base/on-abort.ts'
import type { Clock, Timer } from '../base/clock.ts'
import { mergeCauses, type Cause } from '../base/flow.ts'
import { backoffMs, type Backoff } from '../base/work-queue.ts'
import { keyOf, type ObjectKey } from '../api/object.ts'
import type { Pod } from '../api/core/v1/pod.ts'
import { PodHeap } from './pod-heap.ts'

export interface Waiting {
  readonly pod: Pod
  readonly cause: Cause
  readonly attempts: number
  /** Which plugins rejected it the last time. */
  readonly rejectedBy: ReadonlySet<string>
  /** How many events had come when it was taken: one that comes meanwhile may help it. */
  readonly wakesSeen: number
  /** When it was first taken to be scheduled. */
  readonly firstTriedMs: number | undefined
}

export type Place = 'active' | 'backoff' | 'unschedulable' | 'gated'

interface Entry {
  waiting: Waiting
  place: Place
  timer: Timer | undefined
  sequence: number
  /** When its back-off ends. */
  readyMs: number
  /** An error, not a rejection, brought it here: it waits its back-off out in any case. */
  isError: boolean
}

export interface QueueOptions {
  readonly clock: Clock
  readonly before: (a: Pod, b: Pod) => number
  /** The plugin that does not let a pod in; undefined when it may come in. */
  readonly gate?: (pod: Pod) => string | undefined
  readonly backoff?: Backoff
  /** Hears of every pod that comes into a place, because of what, and of every one that leaves it. */
  readonly observer?: QueueObserver
}

export interface QueueObserver {
  entered(place: Place, waiting: Waiting, event: string): void
  left(place: Place, waiting: Waiting): void
}

const podBackoff: Backoff = { initialMs: 1000, maxMs: 10_000 }
const unobserved: QueueObserver = { entered: () => {}, left: () => {} }
/** A pod that no event has helped for so long is tried again all the same. */
const unschedulableMsMax = 300_000

export class SchedulingQueue {
  readonly #clock: Clock
  readonly #gate: (pod: Pod) => string | undefined
  readonly #backoff: Backoff
  readonly #observer: QueueObserver
  // Invariant: every waiting pod is in exactly one place; a pod that is being scheduled is in none.
  readonly #entries = new Map<ObjectKey, Entry>()
  readonly #active: PodHeap<Entry>
  readonly #backingOff: PodHeap<Entry>
  /** The unschedulable ones, by the plugins that rejected them. */
  readonly #parked = new Map<string, { readonly rejectedBy: ReadonlySet<string>; readonly entries: Set<Entry> }>()
  #sequence = 0
  #wakes = 0
  #waiter: ((waiting: Waiting | undefined) => void) | undefined

  constructor({ clock, before, gate = () => undefined, backoff = podBackoff, observer = unobserved }: QueueOptions) {
    this.#clock = clock
    this.#gate = gate
    this.#backoff = backoff
    this.#observer = observer
    this.#active = new PodHeap((a, b) => before(a.waiting.pod, b.waiting.pod) || a.sequence - b.sequence)
    this.#backingOff = new PodHeap((a, b) => a.readyMs - b.readyMs || a.sequence - b.sequence)
  }

  get size(): number {
    return this.#entries.size
  }

  /** Pods that could be taken now. */
  get activeCount(): number {
    return this.#active.size
  }

  placeOf(key: ObjectKey): Place | undefined {
    return this.#entries.get(key)?.place
  }

  /** How many pods are in each place. */
  counts(): Record<Place, number> {
    const counts = { active: 0, backoff: 0, unschedulable: 0, gated: 0 }
    for (const { place } of this.#entries.values()) counts[place]++
    return counts
  }

  /** A new pod, or a newer version of one that waits; `isNews` when the change could make it schedulable. */
  add(pod: Pod, cause: Cause, isNews = false): void {
    const key = keyOf(pod)
    const known = this.#entries.get(key)
    if (known === undefined) {
      const rejectedBy = new Set<string>()
      const waiting = { pod, cause, attempts: 0, rejectedBy, wakesSeen: 0, firstTriedMs: undefined }
      return this.#enter(key, waiting, 0, 'UnscheduledPodAdd')
    }
    known.waiting = { ...known.waiting, pod }
    if (known.place === 'gated') this.#enter(key, { ...known.waiting, cause }, known.readyMs, podUpdate)
    else if (known.place === 'unschedulable' && isNews) this.#moveOut(known, cause, podUpdate)
  }

  remove(key: ObjectKey): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#leave(entry)
  }

  /** Back after a failure that is not the pod's fault: a conflict, an error. */
  retry(waiting: Waiting): void {
    const attempts = waiting.attempts + 1
    const readyMs = this.#clock.nowMs() + backoffMs(this.#backoff, waiting.attempts)
    this.#put(
      keyOf(waiting.pod),
      { ...waiting, attempts, rejectedBy: new Set() },
      'backoff',
      readyMs,
      attemptFailure,
      true,
    )
  }

  /** Nothing fits: waits for an event that one of the plugins that said no hopes for. */
  park(waiting: Waiting, rejectedBy: ReadonlySet<string>): void {
    const readyMs = this.#clock.nowMs() + backoffMs(this.#backoff, waiting.attempts)
    const place = waiting.wakesSeen === this.#wakes ? 'unschedulable' : 'backoff'
    const parked = { ...waiting, attempts: waiting.attempts + 1, rejectedBy }
    this.#put(keyOf(waiting.pod), parked, place, readyMs, attemptFailure)
  }

  /** Moves the parked pods that the event can help. `concerns` is asked once for pods that the same plugins rejected. */
  wake(
    concerns: (rejectedBy: ReadonlySet<string>) => boolean,
    canHelp: (waiting: Waiting) => boolean,
    cause: Cause,
    event = 'unknown',
  ): void {
    this.#wakes++
    for (const { rejectedBy, entries } of this.#parked.values())
      if (concerns(rejectedBy))
        for (const entry of [...entries]) if (canHelp(entry.waiting)) this.#moveOut(entry, cause, event)
  }

  /** Lets one pod out, whatever it waits for. */
  activate(key: ObjectKey, cause: Cause): void {
    const entry = this.#entries.get(key)
    if (entry === undefined || entry.place === 'active') return
    const woken = { ...entry.waiting, cause: mergeCauses([entry.waiting.cause, cause]) }
    this.#enter(key, woken, entry.readyMs, 'ForceActivate')
  }

  /** The next pod; undefined when aborted. One caller at a time. */
  take(signal: AbortSignal): Promise<Waiting | undefined> {
    const next = signal.aborted ? undefined : this.next()
    if (next !== undefined || signal.aborted) return Promise.resolve(next)
    return new Promise((resolve) => {
      const leave = () => this.#waiter?.(undefined)
      this.#waiter = (waiting) => {
        this.#waiter = undefined
        offAbort(signal, leave)
        resolve(waiting)
      }
      onAbort(signal, leave)
    })
  }

  /**
   * The next pod, if one waits. With nobody active, one that was rejected need not wait its back-off out, since nobody
   * else would be served.
   */
  next(): Waiting | undefined {
    const next = this.#active.pop() ?? this.#backingOff.pop()
    if (next === undefined) return undefined
    const key = keyOf(next.waiting.pod)
    const gate = next.place === 'backoff' ? this.#gate(next.waiting.pod) : undefined
    if (gate !== undefined) {
      this.#put(key, { ...next.waiting, rejectedBy: new Set([gate]) }, 'gated', next.readyMs, 'PopFromBackoffQ')
      return this.next()
    }
    next.timer?.cancel()
    this.#entries.delete(key)
    this.#observer.left(next.place, next.waiting)
    const { firstTriedMs = this.#clock.monotonicMs() } = next.waiting
    return { ...next.waiting, wakesSeen: this.#wakes, firstTriedMs }
  }

  close(): void {
    for (const { timer, place, waiting } of this.#entries.values()) {
      timer?.cancel()
      this.#observer.left(place, waiting)
    }
    this.#entries.clear()
    this.#parked.clear()
    this.#waiter?.(undefined)
  }

  #moveOut({ waiting, readyMs }: Entry, cause: Cause, event: string): void {
    const key = keyOf(waiting.pod)
    const woken = { ...waiting, cause: mergeCauses([waiting.cause, cause]) }
    if (readyMs > this.#clock.nowMs()) this.#put(key, woken, 'backoff', readyMs, event)
    else this.#enter(key, woken, readyMs, event)
  }

  /** Into the active queue, if the gate lets the pod in. */
  #enter(key: ObjectKey, waiting: Waiting, readyMs: number, event: string): void {
    const gate = this.#gate(waiting.pod)
    if (gate === undefined) this.#put(key, waiting, 'active', readyMs, event)
    else this.#put(key, { ...waiting, rejectedBy: new Set([gate]) }, 'gated', readyMs, event)
  }

  #put(key: ObjectKey, waiting: Waiting, place: Place, readyMs: number, event: string, isError = false): void {
    const before = this.#entries.get(key)
    if (before !== undefined) this.#leave(before)
    const entry: Entry = { waiting, place, timer: undefined, sequence: this.#sequence++, readyMs, isError }
    this.#entries.set(key, entry)
    this.#observer.entered(place, waiting, event)
    const after = (ms: number, why: string) =>
      this.#clock.after(ms, () => this.#enter(key, entry.waiting, readyMs, why))
    if (place === 'unschedulable') {
      entry.timer = after(unschedulableMsMax, 'UnschedulableTimeout')
      const group = this.#parked.get(groupOf(waiting)) ?? { rejectedBy: waiting.rejectedBy, entries: new Set() }
      group.entries.add(entry)
      this.#parked.set(groupOf(waiting), group)
    }
    if (place === 'backoff') entry.timer = after(readyMs - this.#clock.nowMs(), 'BackoffComplete')
    if (place === 'active') this.#active.push(entry)
    if (place === 'backoff' && !isError) this.#backingOff.push(entry)
    if (this.#waiter === undefined) return
    const next = this.next()
    if (next !== undefined) this.#waiter(next)
  }

  #leave(entry: Entry): void {
    this.#observer.left(entry.place, entry.waiting)
    entry.timer?.cancel()
    this.#active.remove(entry)
    this.#backingOff.remove(entry)
    const group = entry.place === 'unschedulable' ? this.#parked.get(groupOf(entry.waiting)) : undefined
    group?.entries.delete(entry)
    if (group?.entries.size === 0) this.#parked.delete(groupOf(entry.waiting))
  }
}

/** What brings pods into a place, as upstream names it. */
const podUpdate = 'UnscheduledPodUpdate'
const attemptFailure = 'ScheduleAttemptFailure'

const groupOf = ({ rejectedBy }: Waiting): string => [...rejectedBy].toSorted().join()
