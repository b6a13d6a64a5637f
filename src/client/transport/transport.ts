// Transport: how a client's calls reach an API server: directly in the same process, or over HTTPS. Same calls, same
// answers, same errors (StatusError).
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
  /** Only names, owners and the like are asked for; whoever has the objects at hand may answer with more. */
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
  /** A document of the server's own, such as discovery, as JSON. */
  read(path: string, accept: string, context: Context): Promise<unknown>
  /** An object, or a Status for those deletions that leave no object; of a collection that is deleted, nothing to rely on. */
  send(call: ApiCall, context: Context): Promise<unknown>
  list(call: ApiCall, context: Context): Promise<ListPage>
  /** Events as many as there are at a time. Ends with a StatusError when the server says so: 410 means list again. */
  watch(call: WatchCall, context: Context): AsyncIterable<readonly ClientEvent[]>
}
