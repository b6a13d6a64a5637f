// EventCorrelation: what becomes of an event that may repeat others. The same again counts up; many that differ only in
// their words become one; whoever tells too much about one object is not heard for a while. Everything is bounded.
import { RecentMap } from '../../base/collections/recent-map.ts'
import type { Series } from './event-writers.ts'

/** As many ways to say one thing are told apart; beyond that they are combined. */
const similarMax = 10
const similarMsMax = 600_000
/** So many events about one object at once, then one every five minutes. */
const burstMax = 25
const refillMs = 300_000
/** Objects remembered; the one that nothing was told of for the longest is forgotten first. */
const objectsMax = 4096
/** What is remembered of each: types and reasons. */
const topicsMax = 256

/** One way in which something was said, and what was written of it. */
export interface EventRecord {
  readonly message: string
  series: Series | undefined
}

export interface Correlation {
  readonly record: EventRecord
  readonly message: string
  /** False when too much was told already. */
  readonly isAllowed: boolean
}

interface EventTopic {
  readonly name: string
  /** Never as many as `similarMax`, the oldest first. */
  records: readonly EventRecord[]
  /** All further ways, as one. */
  combined: EventRecord | undefined
  lastMs: number
}

interface ObjectEvents {
  tokens: number
  atMs: number
  /** The oldest first. */
  topics: readonly EventTopic[]
}

/**
 * Everything that is told of one object is kept together: most objects are told of a few times, and never again. There
 * are thousands of them, so that each has lists as long as they need be, and no map.
 */
export class EventCorrelator {
  readonly #subjects = new RecentMap<string, ObjectEvents>(objectsMax)

  /** What was said before about a topic, in these words or in too many others. */
  correlate(uid: string, topic: string, message: string, nowMs: number): Correlation {
    const subject = this.#subjectOf(uid, nowMs)
    const isAllowed = takeToken(subject, nowMs)
    const known = topicOf(subject, topic, nowMs)
    // What was said long ago in other words is forgotten.
    if (nowMs - known.lastMs > similarMsMax)
      known.records = known.records.filter((record) => record.message === message)
    known.lastMs = nowMs
    let record = known.records.find((one) => one.message === message)
    if (record === undefined) known.records = known.records.concat((record = { message, series: undefined }))
    if (known.records.length < similarMax) return { record, message, isAllowed }
    known.records = known.records.slice(1)
    known.combined ??= { message: '', series: undefined }
    return { record: known.combined, message: `(combined from similar events): ${message}`, isAllowed }
  }

  /** What was said before about a topic, in whatever words. */
  series(uid: string, topic: string, nowMs: number): EventRecord {
    const known = topicOf(this.#subjectOf(uid, nowMs), topic, nowMs)
    const record = known.records[0] ?? { message: '', series: undefined }
    known.records = [record]
    return record
  }

  #subjectOf(uid: string, nowMs: number): ObjectEvents {
    const known = this.#subjects.get(uid) ?? { tokens: burstMax, atMs: nowMs, topics: [] }
    this.#subjects.set(uid, known)
    return known
  }
}

function topicOf(subject: ObjectEvents, name: string, nowMs: number): EventTopic {
  const known = subject.topics.find((topic) => topic.name === name)
  if (known !== undefined) return known
  const made: EventTopic = { name, records: [], combined: undefined, lastMs: nowMs }
  const kept = subject.topics.length < topicsMax ? subject.topics : subject.topics.slice(1)
  subject.topics = kept.concat(made)
  return made
}

function takeToken(subject: ObjectEvents, nowMs: number): boolean {
  const tokens = Math.min(burstMax, subject.tokens + (nowMs - subject.atMs) / refillMs)
  const isAllowed = tokens >= 1
  subject.tokens = isAllowed ? tokens - 1 : tokens
  subject.atMs = nowMs
  return isAllowed
}
