// startInTurns: a handler whose requests start in turns with those of other connections while the event loop is busy, so that
// a connection with many pipelined requests or streams does not delay the others.
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { FairTurns } from '../../base/work/fair-turns.ts'
import type { StreamedRequest, WireResponse } from './listener.ts'

type Handle = (request: StreamedRequest) => MaybePromise<WireResponse>

export const startInTurns =
  (handle: Handle, turns: FairTurns<object>, connection: object): Handle =>
  (request) =>
    turns.run(connection, () => {
      // The client may have gone before its turn.
      request.signal.throwIfAborted()
      return handle(request)
    })
