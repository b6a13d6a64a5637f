// Transport: how a client reaches an API server, in the same process or over HTTPS. Both have the same calls, results
// and errors (StatusError).
import type { Context } from '../../base/observability/context.ts'
import type { Cause } from '../../base/observability/flow-recorder.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'

export type CallVerb = 'create' | 'get' | 'list' | 'update' | 'patch' | 'delete' | 'deletecollection'
export type CallPatchType = 'apply' | 'json' | 'merge' | 'strategic'

export interface ApiCall {
  readonly verb: CallVerb
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  readonly query: Readonly<Record<string, string>>
  readonly body: unknown
  readonly patchType?: CallPatchType
  /** Requests only metadata. A transport in the same process may return whole objects. */
  readonly form?: 'metadata'
}

export type WatchCall = Omit<ApiCall, 'verb' | 'body' | 'patchType' | 'subresource'>

export interface ListPage {
  readonly items: readonly ApiObject[]
  readonly revision: number
  readonly continueToken: string
}

export type ClientEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: ApiObject; readonly cause: Cause }
  | { readonly type: 'BOOKMARK'; readonly revision: number }

export interface Transport {
  /** Reads a path of the server as JSON: a document such as discovery, or objects of an API that has no kind here. */
  read(path: string, accept: string, context: Context): Promise<unknown>
  /** Reads a path of the server as text, such as a pod's log. */
  readText(path: string, context: Context): Promise<string>
  /**
   * Returns an object, or a Status for a deletion that leaves no object. The result of `deletecollection` is undefined.
   */
  send(call: ApiCall, context: Context): Promise<unknown>
  list(call: ApiCall, context: Context): Promise<ListPage>
  /** Yields all available events at a time. Ends with the server's StatusError, if any: after a 410, list again. */
  watch(call: WatchCall, context: Context): AsyncIterable<readonly ClientEvent[]>
}
