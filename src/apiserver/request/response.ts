// ApiResponse: the result of a request, before it is encoded. The HTTP handler encodes it as bytes; the direct
// transport passes the objects on as they are.
import type { Kind } from '../../api/kind/kind.ts'
import type { Channel } from '../../base/async/channel.ts'
import type { WireResponse } from '../../platform/http/listener.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import type { WatchEvent } from '../watch-cache/watch-event.ts'

export type ApiResponse =
  | {
      readonly kind: 'object'
      readonly status: number
      readonly object: object
      readonly objectKind?: Kind
      /** The stored version of the object, with its cached encodings. */
      readonly stored?: StoredObject
      readonly warnings?: readonly string[]
    }
  | ListResponse
  | { readonly kind: 'watch'; readonly objectKind: Kind; readonly events: Channel<WatchEvent> }
  | {
      readonly kind: 'json'
      readonly status: number
      readonly value: unknown
      readonly contentType?: string
      readonly etag?: string
      readonly isYaml?: boolean
    }
  | {
      readonly kind: 'document'
      readonly body: string | Uint8Array
      readonly contentType: string
      readonly etag: string
      readonly cacheControl?: string
      /** Until then, clients may keep the document without asking again. */
      readonly expiresMs?: number
    }
  /** Another version of a document is at the location. `tag` is its ETag. */
  | { readonly kind: 'redirect'; readonly location: string; readonly tag: string }
  | {
      readonly kind: 'text'
      readonly status: number
      readonly text: string
      /** Plain text by default. */
      readonly contentType?: string
    }
  /** The response of another server, passed on as it is. */
  | { readonly kind: 'wire'; readonly response: WireResponse }

export type ResponseOf<Name extends ApiResponse['kind']> = Extract<ApiResponse, { readonly kind: Name }>

export interface ListResponse {
  readonly kind: 'list'
  readonly objectKind: Kind
  readonly items: readonly StoredObject[]
  readonly revision: number
  readonly continueToken: string
  readonly remaining: number | undefined
  readonly warnings?: readonly string[]
}

/** A document that the server serves at a path. It is read for each request. */
export interface ServedDocument {
  readonly contentType: string
  readonly value: object
}
