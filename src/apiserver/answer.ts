// Answer: what a request ends in, before any encoding. The HTTP station writes it as bytes; the direct transport
// hands the objects over as they are.
import type { Kind } from '../api/kind.ts'
import type { Channel } from '../base/channel.ts'
import type { Cause } from '../base/flow.ts'
import type { WireAnswer } from '../platform/listener.ts'
import type { Stored } from './stored.ts'

export type Answer =
  | {
      readonly kind: 'object'
      readonly status: number
      readonly object: object
      readonly of?: Kind
      /** The version that the object is, which brings its encodings along. */
      readonly stored?: Stored
      readonly warnings?: readonly string[]
    }
  | ListAnswer
  | { readonly kind: 'watch'; readonly of: Kind; readonly events: Channel<WatchEvent> }
  | {
      readonly kind: 'json'
      readonly status: number
      readonly value: unknown
      readonly contentType?: string
      readonly etag?: string
    }
  | {
      readonly kind: 'document'
      readonly body: string | Uint8Array
      readonly contentType: string
      readonly etag: string
    }
  | { readonly kind: 'text'; readonly status: number; readonly text: string }
  /** The answer of another server, handed on as it comes. */
  | { readonly kind: 'wire'; readonly answer: WireAnswer }

export interface ListAnswer {
  readonly kind: 'list'
  readonly of: Kind
  readonly items: readonly Stored[]
  readonly revision: number
  readonly continueToken: string
  readonly remaining: number | undefined
  readonly warnings?: readonly string[]
}

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly stored: Stored; readonly cause: Cause }
  | { readonly type: 'BOOKMARK'; readonly revision: number; readonly initialEventsEnd: boolean }
  | { readonly type: 'ERROR'; readonly status: object }
