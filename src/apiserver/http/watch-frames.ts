// WatchFrameCache: the bytes of the last batch of events. A change goes to all its watchers within moments, and most of them
// get the same events, so they get the same bytes.
import { concatBytes } from '../../base/collections/concat-bytes.ts'
import type { WatchEvent } from '../watch-cache/watch-event.ts'

/** A longer batch is encoded for each watcher. */
const batchBytesMax = 256 << 10

export class WatchFrameCache {
  #events: readonly WatchEvent[] = []
  #bytes: Uint8Array = new Uint8Array(0)

  /** The frames of these events, concatenated. */
  encoded(events: readonly WatchEvent[], encode: (event: WatchEvent) => Uint8Array): Uint8Array {
    if (areSame(events, this.#events)) return this.#bytes
    const bytes = concatBytes(events.map(encode))
    if (bytes.length > batchBytesMax || !events.every((event) => 'stored' in event)) return bytes
    this.#events = events
    this.#bytes = bytes
    return bytes
  }
}

function areSame(some: readonly WatchEvent[], others: readonly WatchEvent[]): boolean {
  if (some.length !== others.length) return false
  for (let index = 0; index < some.length; index++) {
    const one = some[index]
    const other = others[index]
    if (one === undefined || other === undefined || !('stored' in one) || !('stored' in other)) return false
    if (one.stored !== other.stored || one.type !== other.type) return false
  }
  return true
}

/** The caches of one server, by media type. */
export interface WatchFrameCaches {
  readonly json: WatchFrameCache
  readonly protobuf: WatchFrameCache
}

export const newWatchFrameCaches = (): WatchFrameCaches => ({
  json: new WatchFrameCache(),
  protobuf: new WatchFrameCache(),
})
