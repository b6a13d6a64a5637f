// WatchEvent: one event of a watch, before it is encoded.
import type { Cause } from '../../base/observability/flow-recorder.ts'
import type { StoredObject } from '../storage/stored-object.ts'

export type WatchEvent =
  | {
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
      readonly stored: StoredObject
      readonly cause: Cause
      /** The version before a modification, where the watch asks for it. */
      readonly before?: StoredObject
    }
  | { readonly type: 'BOOKMARK'; readonly revision: number; readonly initialEventsEnd: boolean }
  | { readonly type: 'ERROR'; readonly status: object }

/** Ends a watch. As upstream, a client over HTTP gets no error event; it lists again, and the list has the error. */
export class WatchInterrupted extends Error {
  override name = 'WatchInterrupted'
}
