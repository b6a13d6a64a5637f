// EventCorrelation: what becomes of an event that may repeat others. The same again counts up; many that differ only in
// their words become one; whoever tells too much about one object is not heard for a while. Everything is bounded.
import { RecentMap } from '../base/recent-map.ts'
import type { Series } from './event-forms.ts'

/** As many ways to say one thing are told apart; beyond that they are combined. */
const similarMax = 10
const similarMsMax = 600_000
/** So many events about one object at once, then one every five minutes. */
const burstMax = 25
const refillMs = 300_000
/** Objects remembered; the one that nothing was told of for the longest is forgotten first. */
const rememberedMax = 4096
/** What is remembered of each: types and reasons. */
const topicsMax = 256

/** One way in which something was said, and what was written of it. */
export interface Said {
  readonly message: string
  series: Series | undefined
}

export interface Correlation {
  readonly said: Said
  readonly message: string
  /** False when too much was told already. */
  readonly isHeard: boolean
}

interface Topic {
  readonly name: string
  /** Never as many as `similarMax`, the oldest first. */
  ways: readonly Said[]
  /** All further ways, as one. */
  combined: Said | undefined
  lastMs: number
}

interface Subject {
  tokens: number
  atMs: number
  /** The oldest first. */
  topics: readonly Topic[]
}

/**
 * Everything that is told of one object is kept together: most objects are told of a few times, and never again. There
 * are thousands of them, so that each has lists as long as they need be, and no map.
 */
export class EventCorrelation {
  readonly #subjects = new RecentMap<string, Subject>(rememberedMax)

  /** What was said before about a topic, in these words or in too many others. */
  correlate(uid: string, topic: string, message: string, nowMs: number): Correlation {
    const subject = this.#subjectOf(uid, nowMs)
    const isHeard = spend(subject, nowMs)
    const known = topicOf(subject, topic, nowMs)
    // What was said long ago in other words is forgotten.
    if (nowMs - known.lastMs > similarMsMax) known.ways = known.ways.filter((said) => said.message === message)
    known.lastMs = nowMs
    let said = known.ways.find((one) => one.message === message)
    if (said === undefined) known.ways = known.ways.concat((said = { message, series: undefined }))
    if (known.ways.length < similarMax) return { said, message, isHeard }
    known.ways = known.ways.slice(1)
    known.combined ??= { message: '', series: undefined }
    return { said: known.combined, message: `(combined from similar events): ${message}`, isHeard }
  }

  /** What was said before about a topic, in whatever words. */
  series(uid: string, topic: string, nowMs: number): Said {
    const known = topicOf(this.#subjectOf(uid, nowMs), topic, nowMs)
    const said = known.ways[0] ?? { message: '', series: undefined }
    known.ways = [said]
    return said
  }

  #subjectOf(uid: string, nowMs: number): Subject {
    const known = this.#subjects.get(uid) ?? { tokens: burstMax, atMs: nowMs, topics: [] }
    this.#subjects.set(uid, known)
    return known
  }
}

function topicOf(subject: Subject, name: string, nowMs: number): Topic {
  const known = subject.topics.find((topic) => topic.name === name)
  if (known !== undefined) return known
  const made: Topic = { name, ways: [], combined: undefined, lastMs: nowMs }
  const kept = subject.topics.length < topicsMax ? subject.topics : subject.topics.slice(1)
  subject.topics = kept.concat(made)
  return made
}

function spend(subject: Subject, nowMs: number): boolean {
  const tokens = Math.min(burstMax, subject.tokens + (nowMs - subject.atMs) / refillMs)
  const isHeard = tokens >= 1
  subject.tokens = isHeard ? tokens - 1 : tokens
  subject.atMs = nowMs
  return isHeard
}
