// SchedulingQueue: pods that wait for a node. Active ones are next; those that failed wait out a back-off; those that
// nothing fits wait for an event that can help them, or for a while; gated ones wait until they are let in.
import { offAbort, onAbort } from '../../base/async/on-abort.ts'
import type { Clock, Timer } from '../../base/time/clock.ts'
import { mergeCauses, type Cause } from '../../base/observability/flow-recorder.ts'
import { backoffMs, type Backoff } from '../../base/work/work-queue.ts'
import { keyOf, type ObjectKey } from '../../api/meta/object.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { PodHeap } from './pod-heap.ts'

export interface QueuedPod {
  readonly pod: Pod
  readonly cause: Cause
  readonly attempts: number
  /** Which plugins rejected it the last time. */
  readonly rejectedBy: ReadonlySet<string>
  /** How many events had come when it was taken: one that comes meanwhile may help it. */
  readonly eventsSeen: number
  /** When it was first taken to be scheduled. */
  readonly firstAttemptMs: number | undefined
}

export type QueueName = 'active' | 'backoff' | 'unschedulable' | 'gated'

interface Entry {
  queued: QueuedPod
  queue: QueueName
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
  entered(queue: QueueName, queued: QueuedPod, event: string): void
  left(queue: QueueName, queued: QueuedPod): void
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
  readonly #unschedulable = new Map<
    string,
    { readonly rejectedBy: ReadonlySet<string>; readonly entries: Set<Entry> }
  >()
  #sequence = 0
  #events = 0
  #waiter: ((queued: QueuedPod | undefined) => void) | undefined

  constructor({ clock, before, gate = () => undefined, backoff = podBackoff, observer = unobserved }: QueueOptions) {
    this.#clock = clock
    this.#gate = gate
    this.#backoff = backoff
    this.#observer = observer
    this.#active = new PodHeap((a, b) => before(a.queued.pod, b.queued.pod) || a.sequence - b.sequence)
    this.#backingOff = new PodHeap((a, b) => a.readyMs - b.readyMs || a.sequence - b.sequence)
  }

  get size(): number {
    return this.#entries.size
  }

  /** Pods that could be taken now. */
  get activeCount(): number {
    return this.#active.size
  }

  queueOf(key: ObjectKey): QueueName | undefined {
    return this.#entries.get(key)?.queue
  }

  /** How many pods are in each place. */
  counts(): Record<QueueName, number> {
    const counts = { active: 0, backoff: 0, unschedulable: 0, gated: 0 }
    for (const { queue: place } of this.#entries.values()) counts[place]++
    return counts
  }

  /** A new pod, or a newer version of one that waits; `isNews` when the change could make it schedulable. */
  add(pod: Pod, cause: Cause, mayHelp = false): void {
    const key = keyOf(pod)
    const known = this.#entries.get(key)
    if (known === undefined) {
      const rejectedBy = new Set<string>()
      const queued = { pod, cause, attempts: 0, rejectedBy, eventsSeen: 0, firstAttemptMs: undefined }
      return this.#enter(key, queued, 0, 'UnscheduledPodAdd')
    }
    known.queued = { ...known.queued, pod }
    if (known.queue === 'gated') this.#enter(key, { ...known.queued, cause }, known.readyMs, podUpdate)
    else if (known.queue === 'unschedulable' && mayHelp) this.#moveOut(known, cause, podUpdate)
  }

  remove(key: ObjectKey): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#leave(entry)
  }

  /** Back after a failure that is not the pod's fault: a conflict, an error. */
  retry(queued: QueuedPod): void {
    const attempts = queued.attempts + 1
    const readyMs = this.#clock.nowMs() + backoffMs(this.#backoff, queued.attempts)
    this.#put(
      keyOf(queued.pod),
      { ...queued, attempts, rejectedBy: new Set() },
      'backoff',
      readyMs,
      attemptFailure,
      true,
    )
  }

  /** Nothing fits: waits for an event that one of the plugins that said no hopes for. */
  addUnschedulable(queued: QueuedPod, rejectedBy: ReadonlySet<string>): void {
    const readyMs = this.#clock.nowMs() + backoffMs(this.#backoff, queued.attempts)
    const queue = queued.eventsSeen === this.#events ? 'unschedulable' : 'backoff'
    const parked = { ...queued, attempts: queued.attempts + 1, rejectedBy }
    this.#put(keyOf(queued.pod), parked, queue, readyMs, attemptFailure)
  }

  /** Moves the parked pods that the event can help. `concerns` is asked once for pods that the same plugins rejected. */
  requeue(
    concerns: (rejectedBy: ReadonlySet<string>) => boolean,
    queueingHint: (queued: QueuedPod) => boolean,
    cause: Cause,
    event = 'unknown',
  ): void {
    this.#events++
    for (const { rejectedBy, entries } of this.#unschedulable.values())
      if (concerns(rejectedBy))
        for (const entry of [...entries]) if (queueingHint(entry.queued)) this.#moveOut(entry, cause, event)
  }

  /** Lets one pod out, whatever it waits for. */
  activate(key: ObjectKey, cause: Cause): void {
    const entry = this.#entries.get(key)
    if (entry === undefined || entry.queue === 'active') return
    const woken = { ...entry.queued, cause: mergeCauses([entry.queued.cause, cause]) }
    this.#enter(key, woken, entry.readyMs, 'ForceActivate')
  }

  /** The next pod; undefined when aborted. One caller at a time. */
  take(signal: AbortSignal): Promise<QueuedPod | undefined> {
    const next = signal.aborted ? undefined : this.next()
    if (next !== undefined || signal.aborted) return Promise.resolve(next)
    return new Promise((resolve) => {
      const leave = () => this.#waiter?.(undefined)
      this.#waiter = (queued) => {
        this.#waiter = undefined
        offAbort(signal, leave)
        resolve(queued)
      }
      onAbort(signal, leave)
    })
  }

  /**
   * The next pod, if one waits. With nobody active, one that was rejected need not wait its back-off out, since nobody
   * else would be served.
   */
  next(): QueuedPod | undefined {
    const next = this.#active.pop() ?? this.#backingOff.pop()
    if (next === undefined) return undefined
    const key = keyOf(next.queued.pod)
    const gate = next.queue === 'backoff' ? this.#gate(next.queued.pod) : undefined
    if (gate !== undefined) {
      this.#put(key, { ...next.queued, rejectedBy: new Set([gate]) }, 'gated', next.readyMs, 'PopFromBackoffQ')
      return this.next()
    }
    next.timer?.cancel()
    this.#entries.delete(key)
    this.#observer.left(next.queue, next.queued)
    const { firstAttemptMs = this.#clock.monotonicMs() } = next.queued
    return { ...next.queued, eventsSeen: this.#events, firstAttemptMs }
  }

  close(): void {
    for (const { timer, queue: place, queued: waiting } of this.#entries.values()) {
      timer?.cancel()
      this.#observer.left(place, waiting)
    }
    this.#entries.clear()
    this.#unschedulable.clear()
    this.#waiter?.(undefined)
  }

  #moveOut({ queued: waiting, readyMs }: Entry, cause: Cause, event: string): void {
    const key = keyOf(waiting.pod)
    const woken = { ...waiting, cause: mergeCauses([waiting.cause, cause]) }
    if (readyMs > this.#clock.nowMs()) this.#put(key, woken, 'backoff', readyMs, event)
    else this.#enter(key, woken, readyMs, event)
  }

  /** Into the active queue, if the gate lets the pod in. */
  #enter(key: ObjectKey, queued: QueuedPod, readyMs: number, event: string): void {
    const gate = this.#gate(queued.pod)
    if (gate === undefined) this.#put(key, queued, 'active', readyMs, event)
    else this.#put(key, { ...queued, rejectedBy: new Set([gate]) }, 'gated', readyMs, event)
  }

  #put(key: ObjectKey, queued: QueuedPod, queue: QueueName, readyMs: number, event: string, isError = false): void {
    const before = this.#entries.get(key)
    if (before !== undefined) this.#leave(before)
    const entry: Entry = { queued, queue, timer: undefined, sequence: this.#sequence++, readyMs, isError }
    this.#entries.set(key, entry)
    this.#observer.entered(queue, queued, event)
    const after = (ms: number, why: string) => this.#clock.after(ms, () => this.#enter(key, entry.queued, readyMs, why))
    if (queue === 'unschedulable') {
      entry.timer = after(unschedulableMsMax, 'UnschedulableTimeout')
      const group = this.#unschedulable.get(groupOf(queued)) ?? { rejectedBy: queued.rejectedBy, entries: new Set() }
      group.entries.add(entry)
      this.#unschedulable.set(groupOf(queued), group)
    }
    if (queue === 'backoff') entry.timer = after(readyMs - this.#clock.nowMs(), 'BackoffComplete')
    if (queue === 'active') this.#active.push(entry)
    if (queue === 'backoff' && !isError) this.#backingOff.push(entry)
    if (this.#waiter === undefined) return
    const next = this.next()
    if (next !== undefined) this.#waiter(next)
  }

  #leave(entry: Entry): void {
    this.#observer.left(entry.queue, entry.queued)
    entry.timer?.cancel()
    this.#active.remove(entry)
    this.#backingOff.remove(entry)
    const group = entry.queue === 'unschedulable' ? this.#unschedulable.get(groupOf(entry.queued)) : undefined
    group?.entries.delete(entry)
    if (group?.entries.size === 0) this.#unschedulable.delete(groupOf(entry.queued))
  }
}

/** What brings pods into a place, as upstream names it. */
const podUpdate = 'UnscheduledPodUpdate'
const attemptFailure = 'ScheduleAttemptFailure'

const groupOf = ({ rejectedBy }: QueuedPod): string => [...rejectedBy].toSorted().join()
