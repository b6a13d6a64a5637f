// Watchers: the open watches of a store. Each receives every version once, in order, filtered by its prefix.
import { Channel } from '../base/async/channel.ts'
import { prefixEnd } from '../base/collections/ordered-map.ts'
import type { StoreBatch, StoreEvent } from './store.ts'
import { keyOf, type RevisionEvents } from './store-version.ts'

interface Watcher {
  /** The newest revision that was sent. */
  sent: number
  readonly prefix: string
  readonly keyEnd: string
  readonly channel: Channel<StoreBatch>
}

/** A watcher that is further behind is disconnected and must relist. */
const watchBatchesMax = 10_000

export class Watchers {
  readonly #watchers = new Set<Watcher>()

  get count(): number {
    return this.#watchers.size
  }

  /** A watch of a prefix that starts with `past`, the events since `from`. */
  add(prefix: string, from: number, past: readonly RevisionEvents[], signal: AbortSignal): Channel<StoreBatch> {
    // The past does not count against the capacity of the channel: it is in memory anyway.
    const channel: Channel<StoreBatch> = new Channel(watchBatchesMax + past.length, () =>
      this.#watchers.delete(watcher),
    )
    const sent = Math.max(from - 1, past.at(-1)?.revision ?? 0)
    const watcher: Watcher = { prefix, keyEnd: prefixEnd(prefix), channel, sent }
    for (const version of past) push(watcher, version)
    this.#watchers.add(watcher)
    return channel.endOnAbort(signal)
  }

  notify(version: RevisionEvents): void {
    for (const watcher of this.#watchers) {
      if (version.revision <= watcher.sent) continue
      watcher.sent = version.revision
      push(watcher, version)
    }
  }

  endAll(): void {
    for (const { channel } of [...this.#watchers]) channel.end()
  }
}

/** A watch that ends immediately with this error. */
export function failedWatch(error: Error): Channel<StoreBatch> {
  const channel = new Channel<StoreBatch>(1)
  channel.end(error)
  return channel
}

function push(watcher: Watcher, version: RevisionEvents): void {
  const events = matchingEvents(watcher, version)
  if (events.length > 0) watcher.channel.push({ revision: version.revision, events })
}

const matchingEvents = ({ prefix, keyEnd }: Watcher, { events }: RevisionEvents): readonly StoreEvent[] =>
  events.filter((event) => {
    const key = keyOf(event)
    return key >= prefix && (keyEnd === '' || key < keyEnd)
  })
