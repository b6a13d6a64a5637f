// The events of a watch as pieces of its response, many at a time.
import { ChannelOverflow, type Channel } from '../../base/async/channel.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { WirePieces } from '../../platform/http/listener.ts'
import { WatchInterrupted, type WatchEvent } from '../watch-cache/watch-event.ts'
import { encodeEvent } from './encode-json.ts'
import { protobufEvent } from './encode-protobuf.ts'
import { statusErrorOf } from './error-status.ts'
import type { ResponseFormat } from './media-type.ts'
import type { IncludeObjectPolicy } from './table.ts'
import type { WatchFrameCaches } from './watch-frames.ts'

/** As many events are encoded before the event loop handles other work. */
const eventsAtOnce = 256

export interface WatchForm {
  readonly form: ResponseFormat
  readonly include: IncludeObjectPolicy
  readonly clock: Clock
  readonly frames: WatchFrameCaches
  /** Called with the events that are sent and the size of their encoding. */
  readonly onSent: (kind: Kind, events: number, bytes: number) => void
  /** Called once, with the bookmark after the initial events; undefined if the watch has none. */
  readonly onInitialEventsSent: (() => void) | undefined
}

export function watchPieces(events: Channel<WatchEvent>, kind: Kind, watch: WatchForm): WirePieces {
  const encode = encoderOf(kind, watch)
  const { syntax, shape } = watch.form
  // Tables and metadata are encoded for each watcher.
  const cache = shape === 'object' ? watch.frames[syntax === 'protobuf' ? 'protobuf' : 'json'] : undefined
  let { onInitialEventsSent } = watch
  return {
    listen: (wake) => events.onReadable(wake),
    take() {
      try {
        const batch = events.take(eventsAtOnce)
        if (batch === undefined || batch.length === 0) return batch as readonly never[] | undefined
        const pieces = cache === undefined ? batch.map(encode) : [cache.encoded(batch, encode)]
        watch.onSent(kind, batch.length, pieces.length === 1 ? (pieces[0]?.length ?? 0) : bytesIn(pieces))
        if (onInitialEventsSent !== undefined && batch.some(endsInitialEvents)) {
          onInitialEventsSent()
          onInitialEventsSent = undefined
        }
        return pieces
      } catch (error) {
        // As upstream: the watch of a client that reads too slowly ends without an error event. The client watches again
        // from the last revision that it has seen; a 410 would make it list everything, which adds to the load.
        if (error instanceof ChannelOverflow || error instanceof WatchInterrupted) return undefined
        return [encode({ type: 'ERROR', status: statusErrorOf(error).toStatus() })]
      }
    },
    close: () => events.end(),
  }
}

const endsInitialEvents = (event: WatchEvent): boolean => event.type === 'BOOKMARK' && event.initialEventsEnd

const bytesIn = (pieces: readonly Uint8Array[]): number => pieces.reduce((sum, { length }) => sum + length, 0)

function encoderOf(kind: Kind, { form, include, clock }: WatchForm): (event: WatchEvent) => Uint8Array {
  if (form.syntax === 'protobuf') return (event) => protobufEvent(event, kind, form)
  let withColumns = true
  return (event) => {
    // The cells of a table contain ages, so a row is valid only for a moment.
    const line = encodeEvent(event, kind, { form, include, nowMs: clock.nowMs() }, withColumns)
    withColumns = false
    return line
  }
}
