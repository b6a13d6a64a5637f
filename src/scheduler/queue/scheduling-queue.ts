// SchedulingQueue: pods that wait for a node. Active pods are next. Failed pods wait for their backoff. Unschedulable
// pods wait for an event that may help, or for a timeout. Gated pods wait until PreEnqueue admits them.
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
  /** Plugins that rejected it in the last attempt. */
  readonly rejectedBy: ReadonlySet<string>
  /** Number of events when the pod was taken. Events during the attempt may make it schedulable. */
  readonly eventsSeen: number
  /** Start of the first attempt. */
  readonly firstAttemptMs: number | undefined
  /** Whether it left the unschedulable pods because of the timeout, not of an event, before this attempt. */
  readonly wasFlushed: boolean
}

export type QueueName = 'active' | 'backoff' | 'unschedulable' | 'gated'

interface Entry {
  queued: QueuedPod
  queue: QueueName
  timer: Timer | undefined
  sequence: number
  /** End of the backoff. */
  readyMs: number
  /** Something failed with an error, not a rejection: the pod always waits for its backoff. */
  isError: boolean
}

export interface QueueOptions {
  readonly clock: Clock
  readonly before: (a: Pod, b: Pod) => number
  /** The plugin that gates the pod; undefined when it may enter. */
  readonly gate?: (pod: Pod) => string | undefined
  readonly backoff?: Backoff
  /** Called for every pod that enters or leaves a queue. */
  readonly observer?: QueueObserver
}

export interface QueueObserver {
  entered(queue: QueueName, queued: QueuedPod, event: string): void
  left(queue: QueueName, queued: QueuedPod): void
}

const podBackoff: Backoff = { initialMs: 1000, maxMs: 10_000 }
const unobserved: QueueObserver = { entered: () => {}, left: () => {} }
/** After this time an unschedulable pod is retried without an event. */
const unschedulableMsMax = 300_000

export class SchedulingQueue {
  readonly #clock: Clock
  readonly #gate: (pod: Pod) => string | undefined
  readonly #backoff: Backoff
  readonly #observer: QueueObserver
  // Invariant: every waiting pod is in exactly one queue; a pod that is being scheduled is in none.
  readonly #entries = new Map<ObjectKey, Entry>()
  readonly #active: PodHeap<Entry>
  readonly #backingOff: PodHeap<Entry>
  /** Unschedulable pods, grouped by the plugins that rejected them. */
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

  /** Number of pods that can be taken now. */
  get activeCount(): number {
    return this.#active.size
  }

  queueOf(key: ObjectKey): QueueName | undefined {
    return this.#entries.get(key)?.queue
  }

  /** Number of pods in each queue. */
  counts(): Record<QueueName, number> {
    const counts = { active: 0, backoff: 0, unschedulable: 0, gated: 0 }
    for (const { queue } of this.#entries.values()) counts[queue]++
    return counts
  }

  /** Adds a pod, or a new version of a waiting pod. `mayHelp`: the change may make it schedulable. */
  add(pod: Pod, cause: Cause, mayHelp = false): void {
    const key = keyOf(pod)
    const known = this.#entries.get(key)
    if (known === undefined) {
      const rejectedBy = new Set<string>()
      const firstAttemptMs = undefined
      const queued = { pod, cause, attempts: 0, rejectedBy, eventsSeen: 0, firstAttemptMs, wasFlushed: false }
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

  /** Adds a pod back after an error that is not a rejection, such as a conflict. */
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

  /** Adds a rejected pod, which waits for an event that one of the rejecting plugins registered. */
  addUnschedulable(queued: QueuedPod, rejectedBy: ReadonlySet<string>): void {
    const readyMs = this.#clock.nowMs() + backoffMs(this.#backoff, queued.attempts)
    const queue = queued.eventsSeen === this.#events ? 'unschedulable' : 'backoff'
    const parked = { ...queued, attempts: queued.attempts + 1, rejectedBy, wasFlushed: false }
    this.#put(keyOf(queued.pod), parked, queue, readyMs, attemptFailure)
  }

  /**
   * Moves the unschedulable pods that the event may help. `concerns` is called once for pods with the same rejecting
   * plugins.
   */
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

  /** Moves one pod out of its queue, whatever it waits for. */
  activate(key: ObjectKey, cause: Cause): void {
    const entry = this.#entries.get(key)
    if (entry === undefined || entry.queue === 'active') return
    const woken = { ...entry.queued, cause: mergeCauses([entry.queued.cause, cause]) }
    this.#enter(key, woken, entry.readyMs, forceActivate)
  }

  /** Lets a rejected pod wait for its backoff instead of an event, because what was done for it after the attempt failed. */
  backOff(key: ObjectKey): void {
    const entry = this.#entries.get(key)
    if (entry === undefined || entry.queue === 'active') return
    this.#put(key, entry.queued, 'backoff', entry.readyMs, forceActivate, true)
  }

  /** The next pod; undefined when aborted. Only one caller at a time. */
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
   * The next pod, if there is one. When no pod is active, a rejected pod need not wait for its backoff, because no
   * other pod would be scheduled.
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
    for (const { timer, queue, queued } of this.#entries.values()) {
      timer?.cancel()
      this.#observer.left(queue, queued)
    }
    this.#entries.clear()
    this.#unschedulable.clear()
    this.#waiter?.(undefined)
  }

  #moveOut({ queued, readyMs }: Entry, cause: Cause, event: string): void {
    const key = keyOf(queued.pod)
    const woken = { ...queued, cause: mergeCauses([queued.cause, cause]) }
    if (readyMs > this.#clock.nowMs()) this.#put(key, woken, 'backoff', readyMs, event)
    else this.#enter(key, woken, readyMs, event)
  }

  /** Adds the pod to the active queue unless a plugin gates it. */
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
    const enter = (why: string) => this.#enter(key, entry.queued, readyMs, why)
    if (queue === 'unschedulable') {
      entry.timer = this.#clock.after(unschedulableMsMax, () => {
        entry.queued = { ...entry.queued, wasFlushed: true }
        enter('UnschedulableTimeout')
      })
      const group = this.#unschedulable.get(groupOf(queued)) ?? { rejectedBy: queued.rejectedBy, entries: new Set() }
      group.entries.add(entry)
      this.#unschedulable.set(groupOf(queued), group)
    }
    if (queue === 'backoff')
      entry.timer = this.#clock.after(readyMs - this.#clock.nowMs(), () => enter('BackoffComplete'))
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

/** Reasons for entering a queue, as upstream's metrics name them. */
const podUpdate = 'UnscheduledPodUpdate'
const attemptFailure = 'ScheduleAttemptFailure'
const forceActivate = 'ForceActivate'

const groupOf = ({ rejectedBy }: QueuedPod): string => [...rejectedBy].toSorted().join()
