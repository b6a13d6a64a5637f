// The flow recorder: every message between components as one event with its cause, in a ring of fixed size.
// Columns instead of objects, and only references that the caller already holds: an event costs well below a
// microsecond, and nothing recorded outlives its slot. Turning events into diagrams is the work of flows/.
import type { Brand } from '../brand.ts'
import type { Clock } from '../time/clock.ts'

/** Position of an event in its recorder's history; 0 stands for none. */
export type FlowId = Brand<number, 'FlowId'>

export const arrows = ['call', 'watch', 'persist', 'reconcile', 'step'] as const
/**
 * call: the sender waits; watch: pushed, nobody waits; persist: written to the store at a revision;
 * reconcile: a loop looked again; step: something a participant does by itself.
 */
export type Arrow = (typeof arrows)[number]

/** What a request passes at the API server, in this order. */
export const stations = [
  'authentication',
  'fairness',
  'authorization',
  'reading',
  'mutating',
  'validation',
  'validating',
  'store',
] as const
export type RequestStage = (typeof stations)[number]

/** When a call passed a station, and after which event. */
export interface StagePassage {
  readonly station: RequestStage
  /** Since the call began. */
  readonly afterMs: number
  readonly afterEvent: FlowId
}

/** Which object an event is about. Callers pass one they keep anyway; the recorder never copies it. */
export interface FlowObject {
  readonly resource: string
  readonly namespace: string
  readonly name: string
}

export interface Cause {
  readonly event: FlowId
  /** Further events that led here, when several woke one reconcile. */
  readonly also: readonly FlowId[]
  /** Store revisions that woke the sender; they close the chain where sender and API server are two processes. */
  readonly revisions: readonly number[]
  /** The event in the record of the sender's process, when that is another one. */
  readonly span?: Span
}

/** Names an event in the record of another process: the record's name and the event's place in it. */
export type Span = Brand<string, 'Span'>

/** An event as another process told it: `cause.span` instead of ids of its own. */
export type ReportedEvent = Omit<FlowEvent, 'id' | 'allowedBy' | 'stations'> & { readonly span: Span }

export interface FlowEvent {
  readonly id: FlowId
  readonly arrow: Arrow
  readonly atMs: number
  /** Set once the call has been answered. */
  readonly endMs: number | undefined
  readonly from: string
  readonly to: string
  readonly what: string
  readonly outcome: string | undefined
  /** By which rule a call was let through. */
  readonly allowedBy: string | undefined
  readonly object: FlowObject | undefined
  readonly revision: number
  readonly cause: Cause
  /** What the process calls it that recorded it, when that is another one. */
  readonly span: Span | undefined
  /** Of a call to the API server; empty for all else. */
  readonly stations: readonly StagePassage[]
}

/** Why something was decided so; the text is made when somebody reads it. */
export interface Explanation {
  reason(): string
}

const noFlow = 0 as FlowId
const none: readonly never[] = []
export const noCause: Cause = { event: noFlow, also: none, revisions: none }

/** The cause that an event is for what follows from it. */
export const causeOf = (event: FlowId, revision = 0): Cause => ({
  event,
  also: none,
  revisions: revision === 0 ? none : [revision],
})

const causesMergedMax = 8

/** One cause out of several, newest first, bounded: a key may have been woken a thousand times before its turn. */
export function mergeCauses(causes: readonly Cause[]): Cause {
  if (causes.length < 2) return causes[0] ?? noCause
  const newest = causes.slice(-causesMergedMax).toReversed()
  const events = [...new Set(newest.flatMap((cause) => [cause.event, ...cause.also]))].filter((id) => id !== noFlow)
  const revisions = [...new Set(newest.flatMap((cause) => cause.revisions))]
  return {
    event: events[0] ?? noFlow,
    also: events.slice(1, causesMergedMax),
    revisions: revisions.slice(0, causesMergedMax),
  }
}

export type FlowListener = (id: FlowId) => void

export const flowEventsDefault = 1 << 16

export class FlowRecorder {
  readonly #clock: Clock
  readonly #isOff: boolean
  readonly #mask: number
  readonly #arrows: Uint8Array
  readonly #atMs: Float64Array
  readonly #endMs: Float64Array
  readonly #revisions: Float64Array
  // These grow with the ring until it is full; slot 0 is used when it wraps.
  readonly #from: string[] = ['']
  readonly #to: string[] = ['']
  readonly #what: string[] = ['']
  readonly #outcomes: (string | undefined)[] = [undefined]
  readonly #explanations: (Explanation | undefined)[] = [undefined]
  readonly #objects: (FlowObject | undefined)[] = [undefined]
  readonly #causes: Cause[] = [noCause]
  /** The last write at each revision, by the revision's low bits; what stands there may be another revision's. */
  readonly #writes: Float64Array
  readonly #passages: StagePassages
  // What other processes told, by its name and by its slot.
  readonly #reported = new Map<Span, FlowId>()
  readonly #spans = new Map<number, Span>()
  readonly #listeners = new Set<FlowListener>()
  #last = 0

  /** `capacity` events are kept; it is rounded up to a power of two. With 0 nothing is recorded. */
  constructor(clock: Clock, capacity: number = flowEventsDefault) {
    this.#isOff = capacity === 0
    const size = 2 ** Math.ceil(Math.log2(Math.max(2, capacity)))
    this.#clock = clock
    this.#mask = size - 1
    this.#arrows = new Uint8Array(size)
    this.#atMs = new Float64Array(size)
    this.#endMs = new Float64Array(size)
    this.#revisions = new Float64Array(size)
    this.#writes = new Float64Array(size)
    this.#passages = new StagePassages(size)
  }

  get last(): FlowId {
    return this.#last as FlowId
  }

  get oldest(): FlowId {
    return Math.max(1, this.#last - this.#mask) as FlowId
  }

  record(
    arrow: Arrow,
    from: string,
    to: string,
    what: string,
    object?: FlowObject,
    revision = 0,
    cause: Cause = noCause,
  ): FlowId {
    if (this.#isOff) return noFlow
    const id = ++this.#last
    const slot = id & this.#mask
    if (this.#spans.size > 0) this.#forgetSpan(slot)
    this.#arrows[slot] = arrowIndex[arrow]
    this.#atMs[slot] = this.#clock.nowMs()
    this.#endMs[slot] = NaN
    this.#revisions[slot] = revision
    this.#from[slot] = from
    this.#to[slot] = to
    this.#what[slot] = what
    this.#outcomes[slot] = undefined
    this.#explanations[slot] = undefined
    this.#objects[slot] = object
    this.#causes[slot] = cause
    if (arrow === 'persist') this.#writes[revision & this.#mask] = id
    if (this.#listeners.size > 0) this.#notify(id as FlowId)
    return id as FlowId
  }

  /** Takes over what another process recorded. Told again, an event changes only in how it ended. */
  recordReported({ arrow, from, to, what, object, revision, cause, atMs, endMs, outcome, span }: ReportedEvent): void {
    if (this.#isOff) return
    const known = this.#reported.get(span)
    const id = known ?? this.record(arrow, from, to, what, object, revision, cause)
    const slot = id & this.#mask
    this.#atMs[slot] = atMs
    this.#endMs[slot] = endMs ?? NaN
    this.#outcomes[slot] = outcome
    this.#reported.set(span, id)
    this.#spans.set(slot, span)
    if (known !== undefined) this.#notify(known)
  }

  /** Notes how a call ended. Without effect when the event has left the ring. */
  finish(id: FlowId, outcome: string): void {
    if (id < this.oldest || id > this.#last) return
    const slot = id & this.#mask
    this.#endMs[slot] = this.#clock.nowMs()
    this.#outcomes[slot] = outcome
    if (this.#listeners.size > 0) this.#notify(id)
  }

  /** Sets which object a call is about, when that is known only after the call was recorded. */
  identify(id: FlowId, object: FlowObject): void {
    if (id < this.oldest || id > this.#last) return
    this.#objects[id & this.#mask] = object
    if (this.#listeners.size > 0) this.#notify(id)
  }

  /** From now on the stations are noted that the call passes. */
  startStages(id: FlowId, startMs: number): void {
    if (id !== noFlow) this.#passages.startStages(id, startMs)
  }

  /**
   * Notes that a call passed a station; of one that did not enter, or has left the ring, nothing is noted. Returns the
   * monotonic time of it.
   */
  passStage(id: FlowId, station: RequestStage): number {
    const nowMs = this.#clock.monotonicMs()
    if (id !== noFlow) this.#passages.passStage(id, station, this.#last, nowMs)
    return nowMs
  }

  /** Notes who sent a call, once that is proved. Without effect when the event has left the ring. */
  attribute(id: FlowId, from: string): void {
    if (id < this.oldest || id > this.#last) return
    this.#from[id & this.#mask] = from
    if (this.#listeners.size > 0) this.#notify(id)
  }

  /** Notes by which rule a call was let through. The explanation must hold no more than its decider keeps anyway. */
  explain(id: FlowId, explanation: Explanation): void {
    if (id >= this.oldest && id <= this.#last) this.#explanations[id & this.#mask] = explanation
  }

  /** The write that made a revision, while it is in the ring. */
  writeOf(revision: number): FlowId {
    const id = this.#writes[revision & this.#mask] as FlowId
    const slot = id & this.#mask
    const isThere = id >= this.oldest && this.#arrows[slot] === persistIndex && this.#revisions[slot] === revision
    return isThere ? id : noFlow
  }

  get(id: FlowId): FlowEvent | undefined {
    if (id < this.oldest || id > this.#last) return undefined
    const slot = id & this.#mask
    const endMs = this.#endMs[slot] as number
    return {
      id,
      arrow: arrows[this.#arrows[slot] as number] as Arrow,
      atMs: this.#atMs[slot] as number,
      endMs: Number.isNaN(endMs) ? undefined : endMs,
      from: this.#from[slot] as string,
      to: this.#to[slot] as string,
      what: this.#what[slot] as string,
      outcome: this.#outcomes[slot],
      allowedBy: this.#explanations[slot]?.reason(),
      object: this.#objects[slot],
      revision: this.#revisions[slot] as number,
      cause: this.#causes[slot] as Cause,
      span: this.#spans.get(slot),
      stations: this.#passages.of(id),
    }
  }

  /** Events in the order in which they happened, from the oldest that is kept or from `since`. */
  *events(since: FlowId = this.oldest): Generator<FlowEvent> {
    for (let id = Math.max(since, this.oldest); id <= this.#last; id++) {
      const event = this.get(id as FlowId)
      if (event !== undefined) yield event
    }
  }

  /** Calls back for every event that is recorded or ends from now on; the returned function ends it. */
  listen(listener: FlowListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #notify(id: FlowId): void {
    for (const listener of this.#listeners) listener(id)
  }

  #forgetSpan(slot: number): void {
    const span = this.#spans.get(slot)
    if (span === undefined) return
    this.#spans.delete(slot)
    this.#reported.delete(span)
  }
}

const stageIndex = Object.fromEntries(stations.map((name, index) => [name, index])) as Record<RequestStage, number>
const noPassages: readonly StagePassage[] = []

/** When calls passed their stations: a row of numbers for each slot of the ring, so that noting one allocates nothing. */
class StagePassages {
  readonly #mask: number
  /** Which call a row is about, and when it began. */
  readonly #calls: Float64Array
  readonly #startMs: Float64Array
  readonly #afterMs: Float32Array
  /** Events since the call, and one more; 0 where the station was not passed. */
  readonly #afterEvents: Uint32Array

  constructor(size: number) {
    this.#mask = size - 1
    this.#calls = new Float64Array(size)
    this.#startMs = new Float64Array(size)
    this.#afterMs = new Float32Array(size * stations.length)
    this.#afterEvents = new Uint32Array(size * stations.length)
  }

  startStages(id: FlowId, startMs: number): void {
    const slot = id & this.#mask
    this.#calls[slot] = id
    this.#startMs[slot] = startMs
    const row = slot * stations.length
    for (let index = 0; index < stations.length; index++) this.#afterEvents[row + index] = 0
  }

  passStage(id: FlowId, station: RequestStage, last: number, nowMs: number): void {
    const slot = id & this.#mask
    if (this.#calls[slot] !== id) return
    const cell = slot * stations.length + stageIndex[station]
    this.#afterMs[cell] = nowMs - (this.#startMs[slot] as number)
    this.#afterEvents[cell] = last - id + 1
  }

  of(id: FlowId): readonly StagePassage[] {
    const slot = id & this.#mask
    if (this.#calls[slot] !== id) return noPassages
    const row = slot * stations.length
    return stations.flatMap((station, index) => {
      const events = this.#afterEvents[row + index] as number
      const afterEvent = (id + events - 1) as FlowId
      return events === 0 ? [] : [{ station, afterMs: this.#afterMs[row + index] as number, afterEvent }]
    })
  }
}

const arrowIndex: Record<Arrow, number> = { call: 0, watch: 1, persist: 2, reconcile: 3, step: 4 }
const persistIndex = arrowIndex.persist
