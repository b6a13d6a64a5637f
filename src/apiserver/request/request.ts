// ApiRequest: one request on its road, the same from a socket and from a component in this process.
import type { Context } from '../../base/observability/context.ts'
import type { Explanation } from '../../base/observability/flow-recorder.ts'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ClientCertificate } from '../../platform/http/listener.ts'
import type { Pace } from './paced-requests.ts'

export interface User {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

export const userWithName = (name: string, groups: readonly string[] = []): User => ({
  name,
  uid: '',
  groups,
  extra: {},
})

/** What was presented as proof of identity; a component in this process asserts its user instead. */
export type Credentials = { readonly kind: 'asserted'; readonly user: User } | Presented

export interface Presented {
  readonly kind: 'presented'
  /** Verified against one of the authorities of clients. */
  readonly certificate: ClientCertificate | undefined
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Every value of a header that may stand several times. */
  headerValues(name: string): readonly string[]
}

/**
 * `''` is the verb of methods such as OPTIONS, which only proxies take; `proxy` that of `/api/v1/proxy/…`, which nothing
 * serves any more.
 */
export type Verb =
  | 'create'
  | 'get'
  | 'list'
  | 'watch'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'
  | 'proxy'
  | ''

/** What the request wants: an object of a kind, or a path of the server's own. */
export type Target =
  | {
      readonly kind: 'resource'
      readonly verb: Verb
      readonly resource: Kind
      readonly subresource: string
      readonly namespace: string
      readonly name: string
      /** The verb stands in the path, as in `/api/v1/watch/pods`. */
      readonly hasVerbInPath?: true
      /** What a proxied path goes on with. */
      readonly path?: string
      /** Nothing serves the request: its target is known as far as authorization and audit need it. */
      readonly isUnserved?: true
    }
  | {
      readonly kind: 'path'
      readonly verb: string
      readonly path: string
      /** The forms that the client accepts: discovery and OpenAPI have several. */
      readonly accept: string
    }

export type PatchType = 'apply' | 'json' | 'merge' | 'strategic'

/** The body, parsed but not yet of a type. */
export type Body =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'value'
      readonly value: unknown
      readonly patchType?: PatchType
      /** What strict decoding finds wrong in the text, given the fields that the type does not have. */
      readonly strictErrors?: StrictErrors
    }

export type StrictErrors = (unknownFields: readonly string[]) => readonly string[]

export interface ApiRequest {
  readonly context: Context
  readonly credentials: Credentials
  /** Set by the authentication station. */
  readonly user: User | undefined
  /** Set by the authorization station. */
  readonly allowedBy?: Explanation
  /** Who sends, as diagrams name it: `kubectl`, `controller/deployment`. */
  readonly sender: string
  /** The component that the sender says it is; it is the sender once its credentials prove it. */
  readonly claimedSender?: string
  /** The program that sends: who manages the fields that it writes, unless the request names a manager. */
  readonly agent: string
  readonly target: Target
  readonly query: URLSearchParams
  /** The parsed body; `none` until `readBody` has been called. */
  readonly body: Body
  /**
   * Reads a body that is still on its way. It is called after authorization: a client that may not send a request costs
   * no more than the head of it.
   */
  readonly readBody?: () => MaybePromise<UnparsedBody>
  /** Set where the request may hold the event loop for long: it waits for this between its steps. */
  readonly pace?: Pace
  /** Why the request cannot be served, whatever its body: reported after authorization. */
  readonly rejection?: { readonly error: unknown }
  /** Where a request over the network comes from. */
  readonly origin?: Origin
  /** Set by the audit station, where a record is kept. */
  readonly record?: RequestRecord
  /** The request as it came, when it is forwarded to another server. */
  readonly proxied?: {
    readonly method: string
    readonly headers: Readonly<Record<string, string | undefined>>
    readonly body: Uint8Array
  }
  /** The client asks to leave HTTP for another protocol, with these headers. */
  readonly upgrade?: { readonly headers: Readonly<Record<string, string | undefined>> }
}

/** What `readBody` has read. */
export interface UnparsedBody {
  readonly bytes: number
  parse(): MaybePromise<ReceivedBody>
}

/** What a body adds to its request. */
export type ReceivedBody = Pick<ApiRequest, 'body' | 'proxied'>

/** What stations and admission say for the audit record. */
export interface RequestRecord {
  setBody(body: Body): void
  /** The first value of a key stays. What holds parts of objects is left out where the record has none. */
  annotate(key: string, value: string, holdsContent?: boolean): void
  setImpersonated(user: User): void
}

export interface Origin {
  readonly auditId: string
  /** Path and query as sent. */
  readonly uri: string
  readonly remoteAddress: string
  /** Headers that stations add to the answer, whatever it is. */
  readonly responseHeaders: Record<string, string>
}

export type ResourceTarget = Extract<Target, { kind: 'resource' }>

/** A request for a resource, as the registry gets it. */
export type ResourceRequest = ApiRequest & { readonly target: ResourceTarget }

export const isDryRun = ({ query }: ApiRequest): boolean => query.size > 0 && query.getAll('dryRun').includes('All')
