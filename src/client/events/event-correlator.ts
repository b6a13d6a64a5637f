// EventCorrelator: aggregates and limits events, as client-go's correlator does. Repeated events are counted, similar
// events with different messages are combined, and events about one object are rate limited. All state is bounded.
import { LruMap } from '../../base/collections/lru-map.ts'
import { RecentMap } from '../../base/collections/recent-map.ts'
import type { Series } from './event-writers.ts'

/** Different messages of one topic; further ones are combined. */
const similarMax = 10
const similarMsMax = 600_000
/** The rate limit per object: a burst of 25 events, then one every five minutes. */
const burstMax = 25
const refillMs = 300_000
/** Objects in the cache; the least recently used is evicted first. */
export const correlatedObjectsMax = 4096
/** An object without events for this time is as a new one: its limit has refilled. Its Events expire after an hour. */
export const correlatedMsMax = burstMax * refillMs
/** Topics (types and reasons) per object. */
const topicsMax = 256
/** Names of topics and messages that are stored once for all objects. */
const sharedTextsMax = 512
const sharedTextCharsMax = 256

/** A message of a topic, and the series that was written for it. */
export interface EventRecord {
  readonly message: string
  series: Series | undefined
}

export interface Correlation {
  readonly record: EventRecord
  readonly message: string
  /** False when the rate limit is exceeded. */
  readonly isAllowed: boolean
}

interface EventTopic {
  readonly name: string
  /** Fewer than `similarMax`, oldest first. */
  records: readonly EventRecord[]
  /** All further messages together. */
  combined: EventRecord | undefined
  lastMs: number
}

interface ObjectEvents {
  tokens: number
  atMs: number
  /** Oldest first. */
  topics: readonly EventTopic[]
}

/**
 * The state is stored by object. There are thousands of objects with a few events each, so short arrays are used
 * instead of maps.
 */
export class EventCorrelator {
  readonly #subjects = new RecentMap<string, ObjectEvents>(correlatedObjectsMax)
  readonly #texts = new LruMap<string>(sharedTextsMax)
  readonly #keptMs: number

  /** Objects are forgotten when they have had no events for `keptMs`. */
  constructor(keptMs = correlatedMsMax) {
    this.#keptMs = keptMs
  }

  /** The number of objects in the cache. */
  get size(): number {
    return this.#subjects.size
  }

  /** The record for a message of a topic: its own, or the combined one. */
  correlate(uid: string, topic: string, message: string, nowMs: number): Correlation {
    const subject = this.#subjectOf(uid, nowMs)
    const isAllowed = takeToken(subject, nowMs)
    const known = this.#topicOf(subject, topic, nowMs)
    // Old records with other messages are dropped.
    if (nowMs - known.lastMs > similarMsMax)
      known.records = known.records.filter((record) => record.message === message)
    known.lastMs = nowMs
    let record = known.records.find((one) => one.message === message)
    if (record === undefined)
      known.records = known.records.concat((record = { message: this.#shared(message), series: undefined }))
    if (known.records.length < similarMax) return { record, message, isAllowed }
    known.records = known.records.slice(1)
    known.combined ??= { message: '', series: undefined }
    return { record: known.combined, message: `(combined from similar events): ${message}`, isAllowed }
  }

  /** The record of a topic, whatever the message. */
  series(uid: string, topic: string, nowMs: number): EventRecord {
    const subject = this.#subjectOf(uid, nowMs)
    subject.atMs = nowMs
    const known = this.#topicOf(subject, topic, nowMs)
    const record = known.records[0] ?? { message: '', series: undefined }
    known.records = [record]
    return record
  }

  #subjectOf(uid: string, nowMs: number): ObjectEvents {
    this.#forgetIdle(nowMs)
    const known = this.#subjects.get(uid) ?? { tokens: burstMax, atMs: nowMs, topics: [] }
    this.#subjects.set(uid, known)
    return known
  }

  /** The objects are in the order of their last events. */
  #forgetIdle(nowMs: number): void {
    for (const [uid, { atMs }] of this.#subjects.entries()) {
      if (nowMs - atMs < this.#keptMs) return
      this.#subjects.delete(uid)
    }
  }

  #topicOf(subject: ObjectEvents, name: string, nowMs: number): EventTopic {
    const known = subject.topics.find((topic) => topic.name === name)
    if (known !== undefined) return known
    const made: EventTopic = { name: this.#shared(name), records: [], combined: undefined, lastMs: nowMs }
    const kept = subject.topics.length < topicsMax ? subject.topics : subject.topics.slice(1)
    subject.topics = kept.concat(made)
    return made
  }

  #shared(text: string): string {
    return text.length > sharedTextCharsMax ? text : this.#texts.getOrInsert(text, () => text)
  }
}

function takeToken(subject: ObjectEvents, nowMs: number): boolean {
  const tokens = Math.min(burstMax, subject.tokens + (nowMs - subject.atMs) / refillMs)
  const isAllowed = tokens >= 1
  subject.tokens = isAllowed ? tokens - 1 : tokens
  subject.atMs = nowMs
  return isAllowed
}
