// Watchers: the open watches of a store. Each hears of every version once, in order, and only of its own keys.
import { Channel } from '../base/channel.ts'
import { prefixEnd } from '../base/ordered-map.ts'
import type { StoreBatch, StoreEvent } from './store.ts'
import { keyOf, type Version } from './version.ts'

interface Watcher {
  /** The newest revision that was sent. */
  sent: number
  readonly prefix: string
  readonly end: string
  readonly channel: Channel<StoreBatch>
}

/** A watcher that is further behind is cut off and must start anew. */
const watchBatchesMax = 10_000

export class Watchers {
  readonly #watchers = new Set<Watcher>()

  get count(): number {
    return this.#watchers.size
  }

  /** A watch of the keys with the prefix that begins with `past`, what has already happened since `from`. */
  add(prefix: string, from: number, past: readonly Version[], signal: AbortSignal): AsyncIterable<StoreBatch> {
    const channel: Channel<StoreBatch> = new Channel(watchBatchesMax, () => this.#watchers.delete(watcher))
    const sent = Math.max(from - 1, past.at(-1)?.revision ?? 0)
    const watcher: Watcher = { prefix, end: prefixEnd(prefix), channel, sent }
    this.#watchers.add(watcher)
    channel.endWith(signal)
    return past.length === 0 ? channel : pastThenPresent(watcher, past)
  }

  tell(version: Version): void {
    for (const watcher of this.#watchers) {
      if (version.revision <= watcher.sent) continue
      watcher.sent = version.revision
      const events = wantedBy(watcher, version)
      if (events.length > 0) watcher.channel.push({ revision: version.revision, events })
    }
  }

  end(): void {
    for (const { channel } of [...this.#watchers]) channel.end()
  }
}

/** A watch that ends at once, with this error. */
export function failedWatch(error: Error): AsyncIterable<StoreBatch> {
  const channel = new Channel<StoreBatch>(1)
  channel.end(error)
  return channel
}

/** The past is read from the versions themselves, so that its length does not count against the channel. */
function pastThenPresent(watcher: Watcher, past: readonly Version[]): AsyncIterable<StoreBatch> {
  const live = watcher.channel[Symbol.asyncIterator]()
  let index = 0
  const next = (): Promise<IteratorResult<StoreBatch, undefined>> => {
    for (let version = past[index]; version !== undefined; version = past[index]) {
      index++
      const events = wantedBy(watcher, version)
      if (events.length > 0) return Promise.resolve({ value: { revision: version.revision, events }, done: false })
    }
    return live.next()
  }
  const end = (): Promise<IteratorResult<StoreBatch, undefined>> => {
    index = past.length
    watcher.channel.end()
    return Promise.resolve({ value: undefined, done: true })
  }
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) }
}

const wantedBy = ({ prefix, end }: Watcher, { events }: Version): readonly StoreEvent[] =>
  events.filter((event) => {
    const key = keyOf(event)
    return key >= prefix && (end === '' || key < end)
  })
