// The events of a watch as pieces of its answer, taken many at a time.
import type { Channel } from '../../base/async/channel.ts'
import type { Clock } from '../../base/time/clock.ts'
import { errorText } from '../../base/observability/log.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { WirePieces } from '../../platform/http/listener.ts'
import { encodeEvent } from './encode-json.ts'
import { protobufEvent } from './encode-protobuf.ts'
import type { ResponseFormat } from './media-type.ts'
import type { IncludeObjectPolicy } from './table.ts'
import { WatchFrameCache } from './watch-frames.ts'
import type { WatchEvent } from '../watch-cache/watch-event.ts'

/** So many events are encoded before the event loop has its turn again. */
const eventsAtOnce = 256

export interface WatchForm {
  readonly form: ResponseFormat
  readonly include: IncludeObjectPolicy
  readonly clock: Clock
}

/** What was told last, in the forms that are the same for everybody. */
const frames = { json: new WatchFrameCache(), protobuf: new WatchFrameCache() }

export function watchPieces(events: Channel<WatchEvent>, kind: Kind, watch: WatchForm): WirePieces {
  const encode = encoderOf(kind, watch)
  const { syntax, shape } = watch.form
  const shared = syntax === 'protobuf' ? frames.protobuf : shape === 'object' ? frames.json : undefined
  return {
    listen: (wake) => events.onReadable(wake),
    take() {
      try {
        const batch = events.take(eventsAtOnce)
        if (batch === undefined || batch.length === 0) return batch as readonly never[] | undefined
        return shared === undefined ? batch.map(encode) : [shared.encoded(batch, encode)]
      } catch (error) {
        return [encode(errorEvent(error))]
      }
    },
    close: () => events.end(),
  }
}

/** A watch that breaks tells why before it ends. */
function errorEvent(error: unknown): WatchEvent {
  const status = error instanceof StatusError ? error : new StatusError(410, 'Expired', errorText(error))
  return { type: 'ERROR', status: status.toStatus() }
}

function encoderOf(kind: Kind, { form, include, clock }: WatchForm): (event: WatchEvent) => Uint8Array {
  if (form.syntax === 'protobuf') return (event) => protobufEvent(event, kind)
  let withColumns = true
  return (event) => {
    // Cells tell an age, so that a row is true only for a moment.
    const line = encodeEvent(event, kind, { form, include, nowMs: clock.nowMs() }, withColumns)
    withColumns = false
    return line
  }
}
