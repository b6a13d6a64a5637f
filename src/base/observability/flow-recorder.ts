// The flow recorder stores every message between components as an event with its cause, in a ring. Events
// are stored in columns and hold only references that the caller keeps anyway: recording takes well below a
// microsecond, and nothing outlives its slot. Clients choose many of the texts, so the length of each and their sum are
// bounded. flows/ turns events into diagrams.
import { getOrInsert } from '../collections/get-or-insert.ts'
import { grown } from '../collections/grown.ts'
import { ownText } from '../text/own-text.ts'
import type { Clock } from '../time/clock.ts'
import type { FlowId } from './flow-id.ts'
import { spanAfter, type Span } from './span.ts'
import { StagePassages, type ReportedPassage, type RequestStage, type StagePassage } from './stage-passages.ts'

export type { FlowId } from './flow-id.ts'

export const arrows = ['call', 'watch', 'persist', 'reconcile', 'step'] as const
/**
 * call: the sender waits for a response; watch: a notification without a response; persist: written to the store at a
 * revision; reconcile: one run of a reconcile loop; step: an internal action of a participant.
 */
export type Arrow = (typeof arrows)[number]

/** The object of an event. Callers pass one that they keep anyway; the recorder does not copy it. */
export interface FlowObject {
  readonly resource: string
  readonly namespace: string
  readonly name: string
}

export interface Cause {
  readonly event: FlowId
  /** Further causes, when several events triggered one reconcile. */
  readonly also: readonly FlowId[]
  /** Store revisions that triggered the sender. They connect sender and API server when they are separate processes. */
  readonly revisions: readonly number[]
  /** The event in the record of the sender's process, if that is another process. */
  readonly span?: Span
}

/** An event reported by another process. It refers to its cause by `cause.span`. */
export type ReportedEvent = Omit<FlowEvent, 'id' | 'allowedBy' | 'deniedTo' | 'stages'> & { readonly span: Span }

/** An event in the record of another API server, with what only API servers record. */
export type PeerEvent = ReportedEvent &
  Pick<FlowEvent, 'allowedBy' | 'deniedTo'> & {
    readonly stages: readonly ReportedPassage[]
  }

export interface FlowEvent {
  readonly id: FlowId
  readonly arrow: Arrow
  readonly atMs: number
  /** Set when the call has finished. */
  readonly endMs: number | undefined
  readonly from: string
  readonly to: string
  readonly what: string
  readonly outcome: string | undefined
  /** The rule that allowed a call. */
  readonly allowedBy: string | undefined
  /** The user whom no rule allowed the call. */
  readonly deniedTo?: string
  readonly object: FlowObject | undefined
  readonly revision: number
  readonly cause: Cause
  /** The event's identifier in the process that recorded it, if that is another process. */
  readonly span: Span | undefined
  /** Only for calls to the API server. */
  readonly stages: readonly StagePassage[]
}

/** The reason of a decision. The text is built on demand. */
export interface Explanation {
  reason(): string
}

/** A decision of another API server. */
class PeerRule implements Explanation {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  reason(): string {
    return this.#text
  }
}

/** A decision against a user. One is shared by all events of a user, because a client may be refused very often. */
class Denial implements Explanation {
  readonly user: string

  constructor(user: string) {
    this.user = user
  }

  reason(): string {
    return this.user
  }
}

/** Users with a shared denial, and rules of other servers; beyond it, new ones are made. */
const sharedMax = 1_000

const noFlow = 0 as FlowId
const none: readonly never[] = []
export const noCause: Cause = { event: noFlow, also: none, revisions: none }

/** The cause for everything that an event triggers. */
export const causeOf = (event: FlowId, revision = 0): Cause => ({
  event,
  also: none,
  revisions: revision === 0 ? none : [revision],
})

const causesMergedMax = 8

/** Merges several causes, newest first. Bounded, because a key may be added a thousand times before it is processed. */
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

const decisionOf = (explanation: Explanation | undefined): Pick<FlowEvent, 'allowedBy' | 'deniedTo'> =>
  explanation instanceof Denial
    ? { allowedBy: undefined, deniedTo: explanation.user }
    : { allowedBy: explanation?.reason() }

export type FlowListener = (id: FlowId) => void

export const flowEventsDefault = 1 << 16
/** Slots of an empty ring. */
const firstSize = 1 << 10

/** Longer texts are cut off. Names of objects have at most 253 characters. */
export const flowTextCharsMax = 512

/** Of all texts in the ring, each counted for every event that has it. Beyond it the oldest events are removed. */
export const flowCharsMax = 1 << 25

export class FlowRecorder {
  readonly #clock: Clock
  readonly #isOff: boolean
  /** The ring doubles until it has this many slots, so that a short record takes little memory. */
  readonly #sizeMax: number
  #mask: number
  #arrows: Uint8Array
  #atMs: Float64Array
  #endMs: Float64Array
  #revisions: Float64Array
  // Slot 0 is used when the ring wraps.
  readonly #from: string[] = ['']
  readonly #to: string[] = ['']
  readonly #what: string[] = ['']
  readonly #outcomes: (string | undefined)[] = [undefined]
  readonly #explanations: (Explanation | undefined)[] = [undefined]
  readonly #objects: (FlowObject | undefined)[] = [undefined]
  readonly #causes: Cause[] = [noCause]
  /** The last write for each revision, indexed by the revision's low bits. An entry may belong to another revision. */
  #writes: Float64Array
  readonly #passages: StagePassages
  // Events reported by other processes, by span and by slot.
  readonly #reported = new Map<Span, FlowId>()
  readonly #spans = new Map<number, Span>()
  readonly #denials = new Map<string, Denial>()
  readonly #peerRules = new Map<string, PeerRule>()
  readonly #listeners = new Set<FlowListener>()
  /** The characters of each slot's texts, and their sum. */
  #chars: Uint32Array
  readonly #charsMax: number
  #charsTotal = 0
  #oldest = 1
  #last = 0

  /** `capacity` is rounded up to a power of two. With 0 nothing is recorded. */
  constructor(clock: Clock, capacity: number = flowEventsDefault, charsMax: number = flowCharsMax) {
    this.#isOff = capacity === 0
    this.#sizeMax = 2 ** Math.ceil(Math.log2(Math.max(2, capacity)))
    const size = Math.min(this.#sizeMax, firstSize)
    this.#clock = clock
    this.#mask = size - 1
    this.#arrows = new Uint8Array(size)
    this.#atMs = new Float64Array(size)
    this.#endMs = new Float64Array(size)
    this.#revisions = new Float64Array(size)
    this.#writes = new Float64Array(size)
    this.#chars = new Uint32Array(size)
    this.#charsMax = charsMax
    this.#passages = new StagePassages(size)
  }

  get last(): FlowId {
    return this.#last as FlowId
  }

  get oldest(): FlowId {
    return this.#oldest as FlowId
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
    if (id > this.#mask && this.#mask + 1 < this.#sizeMax) this.#grow()
    const slot = id & this.#mask
    if (id - this.#oldest > this.#mask) this.#removeOldest()
    this.#arrows[slot] = arrowIndex[arrow]
    this.#atMs[slot] = this.#clock.nowMs()
    this.#endMs[slot] = NaN
    this.#revisions[slot] = revision
    const stored = object && boundedObject(object)
    this.#from[slot] = boundedText(from)
    this.#to[slot] = boundedText(to)
    this.#what[slot] = boundedText(what)
    this.#outcomes[slot] = undefined
    this.#explanations[slot] = undefined
    this.#objects[slot] = stored
    this.#causes[slot] = cause
    this.#count(slot)
    if (arrow === 'persist') this.#writes[revision & this.#mask] = id
    if (this.#listeners.size > 0) this.#notify(id as FlowId)
    return id as FlowId
  }

  /** Records an event of another process. Reported again, it is updated. */
  recordReported(event: ReportedEvent): void {
    this.#recordReported(event)
  }

  /** Records an event of another API server. Recorded again, it is updated. */
  recordOfPeer(event: PeerEvent): void {
    const id = this.#recordReported(event)
    const { allowedBy, deniedTo, stages } = event
    if (deniedTo !== undefined) this.deny(id, deniedTo)
    else if (allowedBy !== undefined)
      this.explain(
        id,
        shared(this.#peerRules, boundedText(allowedBy), (text) => new PeerRule(text)),
      )
    if (stages.length > 0 && id !== noFlow) this.#passages.set(id, stages)
  }

  #recordReported({
    arrow,
    from,
    to,
    what,
    object,
    revision,
    cause,
    atMs,
    endMs,
    outcome,
    span,
  }: ReportedEvent): FlowId {
    if (this.#isOff) return noFlow
    const known = this.#reported.get(span)
    const id = known ?? this.record(arrow, from, to, what, object, revision, cause)
    const slot = id & this.#mask
    // The sender and the object of a call become known after it was recorded.
    this.#from[slot] = boundedText(from)
    this.#objects[slot] = object && boundedObject(object)
    this.#atMs[slot] = atMs
    this.#endMs[slot] = endMs ?? NaN
    this.#outcomes[slot] = outcome && boundedText(outcome)
    this.#count(slot)
    this.#reported.set(span, id)
    this.#spans.set(slot, span)
    if (known !== undefined) this.#notify(known)
    return id
  }

  /** Records how a call ended. No effect when the event has left the ring. */
  finish(id: FlowId, outcome: string): void {
    if (id < this.oldest || id > this.#last) return
    const slot = id & this.#mask
    this.#endMs[slot] = this.#clock.nowMs()
    this.#outcomes[slot] = boundedText(outcome)
    this.#count(slot)
    if (this.#listeners.size > 0) this.#notify(id)
  }

  /** Sets the object of a call when it becomes known after the call was recorded. */
  identify(id: FlowId, object: FlowObject): void {
    if (id < this.oldest || id > this.#last) return
    const slot = id & this.#mask
    this.#objects[slot] = boundedObject(object)
    this.#count(slot)
    if (this.#listeners.size > 0) this.#notify(id)
  }

  /** Starts recording the stages of a call. */
  startStages(id: FlowId, startMs: number): void {
    if (id !== noFlow) this.#passages.startStages(id, startMs)
  }

  /**
   * Records that a call passed a stage and returns the monotonic time. Calls without `startStages`, and calls that have
   * left the ring, are ignored.
   */
  passStage(id: FlowId, stage: RequestStage): number {
    const nowMs = this.#clock.monotonicMs()
    if (id !== noFlow) this.#passages.passStage(id, stage, this.#last, nowMs)
    return nowMs
  }

  /** Sets the sender of a call after authentication. No effect when the event has left the ring. */
  attribute(id: FlowId, from: string): void {
    if (id < this.oldest || id > this.#last) return
    const slot = id & this.#mask
    this.#from[slot] = boundedText(from)
    this.#count(slot)
    if (this.#listeners.size > 0) this.#notify(id)
  }

  /** Records the rule that allowed a call. The explanation must only hold what the authorizer keeps anyway. */
  explain(id: FlowId, explanation: Explanation): void {
    if (id >= this.oldest && id <= this.#last) this.#explanations[id & this.#mask] = explanation
  }

  /** Records that no rule allowed a call of this user. */
  deny(id: FlowId, user: string): void {
    this.explain(
      id,
      shared(this.#denials, boundedText(user), (name) => new Denial(name)),
    )
  }

  /** The calls that were denied to a user, in order. */
  deniedTo(user: string): FlowEvent[] {
    const found: FlowEvent[] = []
    for (let id = this.#oldest; id <= this.#last; id++) {
      const explanation = this.#explanations[id & this.#mask]
      if (!(explanation instanceof Denial) || explanation.user !== user) continue
      const event = this.get(id as FlowId)
      if (event !== undefined) found.push(event)
    }
    return found
  }

  /** The write that created a revision, while it is in the ring. */
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
      ...decisionOf(this.#explanations[slot]),
      object: this.#objects[slot],
      revision: this.#revisions[slot] as number,
      cause: this.#causes[slot] as Cause,
      span: this.#spans.get(slot),
      stages: this.#stagesOf(id),
    }
  }

  /** Those of a call to another server count its events, which are at other positions here. */
  #stagesOf(id: FlowId): readonly StagePassage[] {
    const passages = this.#passages.of(id)
    const span = this.#spans.get(id & this.#mask)
    if (span === undefined || passages.length === 0) return passages
    return passages.map((passage) => ({
      ...passage,
      afterEvent: this.#reported.get(spanAfter(span, passage.afterEvent - id)) ?? id,
    }))
  }

  /** Events in order, from the oldest in the ring or from `since`. */
  *events(since: FlowId = this.oldest): Generator<FlowEvent> {
    for (let id = Math.max(since, this.oldest); id <= this.#last; id++) {
      const event = this.get(id as FlowId)
      if (event !== undefined) yield event
    }
  }

  /** The ids of the newest events before one that match, the newest first. Events are not constructed for it. */
  newest(max: number, before: number, matches: (what: string, object: FlowObject | undefined) => boolean): FlowId[] {
    const ids: FlowId[] = []
    for (let id = Math.min(before, this.#last + 1) - 1; id >= this.oldest && ids.length < max; id--) {
      const slot = id & this.#mask
      if (matches(this.#what[slot] as string, this.#objects[slot])) ids.push(id as FlowId)
    }
    return ids
  }

  /** The writes in order, with their revisions. Events are not constructed for it. */
  *writes(): Generator<{ readonly revision: number; readonly atMs: number }> {
    for (let id = this.#oldest; id <= this.#last; id++) {
      const slot = id & this.#mask
      if (this.#arrows[slot] === persistIndex)
        yield { revision: this.#revisions[slot] as number, atMs: this.#atMs[slot] as number }
    }
  }

  /** Whether there are readers that follow the record. */
  get isFollowed(): boolean {
    return this.#listeners.size > 0
  }

  /** Calls back for every event that is recorded or finished from now on; the returned function unsubscribes. */
  listen(listener: FlowListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Doubles the ring. It has not wrapped, so each event keeps its slot. */
  #grow(): void {
    const size = 2 * (this.#mask + 1)
    this.#mask = size - 1
    this.#arrows = grown(this.#arrows, new Uint8Array(size))
    this.#atMs = grown(this.#atMs, new Float64Array(size))
    this.#endMs = grown(this.#endMs, new Float64Array(size))
    this.#revisions = grown(this.#revisions, new Float64Array(size))
    this.#chars = grown(this.#chars, new Uint32Array(size))
    this.#writes = new Float64Array(size)
    for (let id = this.#oldest; id < this.#last; id++)
      if (this.#arrows[id] === persistIndex) this.#writes[(this.#revisions[id] as number) & this.#mask] = id
    this.#passages.grow(size)
  }

  /** Counts the texts of a slot after a change. */
  #count(slot: number): void {
    const object = this.#objects[slot]
    const chars =
      (this.#from[slot] as string).length +
      (this.#to[slot] as string).length +
      (this.#what[slot] as string).length +
      (this.#outcomes[slot]?.length ?? 0) +
      (object === undefined ? 0 : charsOf(object))
    this.#charsTotal += chars - (this.#chars[slot] as number)
    this.#chars[slot] = chars
    while (this.#charsTotal > this.#charsMax && this.#oldest < this.#last) this.#removeOldest()
  }

  #removeOldest(): void {
    const slot = this.#oldest++ & this.#mask
    if (this.#spans.size > 0) this.#forgetSpan(slot)
    this.#charsTotal -= this.#chars[slot] as number
    this.#chars[slot] = 0
    this.#from[slot] = this.#to[slot] = this.#what[slot] = ''
    this.#outcomes[slot] = this.#explanations[slot] = this.#objects[slot] = undefined
    this.#causes[slot] = noCause
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

function shared<T>(values: Map<string, T>, name: string, make: (name: string) => T): T {
  if (values.size >= sharedMax) values.clear()
  return getOrInsert(values, name, () => make(name))
}

const boundedText = (text: string): string => (text.length <= flowTextCharsMax ? text : ownText(text, flowTextCharsMax))

const charsOf = ({ resource, namespace, name }: FlowObject): number => resource.length + namespace.length + name.length

/** The object itself in nearly all cases. */
function boundedObject(object: FlowObject): FlowObject {
  if (charsOf(object) <= flowTextCharsMax) return object
  const { resource, namespace, name } = object
  return { resource: boundedText(resource), namespace: boundedText(namespace), name: boundedText(name) }
}

const arrowIndex: Record<Arrow, number> = { call: 0, watch: 1, persist: 2, reconcile: 3, step: 4 }
const persistIndex = arrowIndex.persist
