// ApiRequest: a request as filters and the registry handle it. It is the same for requests from a socket and from a
// component of this process.
import type { Context } from '../../base/observability/context.ts'
import type { Explanation } from '../../base/observability/flow-recorder.ts'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ClientCertificate } from '../../platform/http/listener.ts'
import type { Extension } from './extension.ts'
import type { Pace } from './paced-requests.ts'
import type { RequestSlot } from './request-slot.ts'

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

/** Credentials that a client presented; a component of this process asserts its user instead. */
export type Credentials = { readonly kind: 'asserted'; readonly user: User } | Presented

export interface Presented {
  readonly kind: 'presented'
  /** Verified with one of the client CAs. */
  readonly certificate: ClientCertificate | undefined
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** All values of a header that may be repeated. */
  headerValues(name: string): readonly string[]
}

/**
 * `''` is the verb of methods such as OPTIONS, which only proxies accept; `proxy` is that of `/api/v1/proxy/…`, which
 * is not served any more.
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

/** A resource, or another path of the server. */
export type Target =
  | {
      readonly kind: 'resource'
      readonly verb: Verb
      readonly resource: Kind
      readonly subresource: string
      readonly namespace: string
      readonly name: string
      /** The verb is part of the path, as in `/api/v1/watch/pods`. */
      readonly hasVerbInPath?: true
      /** The path after `/proxy`. */
      readonly path?: string
      /** The request is not served. The target is complete enough for authorization and audit. */
      readonly isUnserved?: true
    }
  | {
      readonly kind: 'path'
      readonly verb: string
      readonly path: string
      /** The Accept header: discovery and OpenAPI have several formats. */
      readonly accept: string
    }

export type PatchType = 'apply' | 'json' | 'merge' | 'strategic'

/** The body, parsed but not yet decoded as a type. */
export type Body =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'value'
      readonly value: unknown
      readonly patchType?: PatchType
      /** The errors of strict decoding, given the fields that the type does not have. */
      readonly strictErrors?: StrictErrors
    }

export type StrictErrors = (unknownFields: readonly string[]) => readonly string[]

export interface ApiRequest {
  readonly context: Context
  readonly credentials: Credentials
  /** Set by the authentication filter. */
  readonly user: User | undefined
  /** Set when the request enters the filters. */
  readonly filterTimes?: FilterTimes
  /** Set by the authorization filter. */
  readonly allowedBy?: Explanation
  /** The sender as diagrams name it: `kubectl`, `controller/deployment`. */
  readonly sender: string
  /** The component that the sender claims to be. It becomes the sender once its credentials are verified. */
  readonly claimedSender?: string
  /** The client program. It is the field manager, unless the request names one. */
  readonly agent: string
  readonly target: Target
  readonly query: URLSearchParams
  /** The parsed body; `none` until `readBody` has been called. */
  readonly body: Body
  /**
   * Reads the body from the connection. It is called after authorization, so that a client without permission costs no
   * more than the head of its request.
   */
  readonly readBody?: () => MaybePromise<UnparsedBody>
  /** Set by the fairness filter. */
  readonly slot?: RequestSlot
  /** Set where the request may block the event loop for long: it waits for this between its steps. */
  readonly pace?: Pace
  /** Why the request cannot be served, whatever its body. It is reported after authorization. */
  readonly rejection?: { readonly error: unknown }
  /** Another server serves the request: it is forwarded there after authorization. */
  readonly extension?: Extension
  /** Set for requests over the network. */
  readonly origin?: Origin
  /** Set by the audit filter if the policy requires a record. */
  readonly record?: RequestRecord
  /** The original request, where it is forwarded to another server. */
  readonly proxied?: {
    readonly method: string
    /** Path and query, where they are not those of the origin. */
    readonly uri?: string
    readonly headers: Readonly<Record<string, string | undefined>>
    readonly body: Uint8Array
  }
  /** The client requests an upgrade to another protocol, with these headers. */
  readonly upgrade?: { readonly headers: Readonly<Record<string, string | undefined>> }
}

/** When a request passed its last filter. Allocated once for each request and updated by the handler chain. */
export interface FilterTimes {
  passedMs: number
}

/** The bytes of a body, before parsing. */
export interface UnparsedBody {
  readonly bytes: number
  parse(pace?: Pace): MaybePromise<ReceivedBody>
}

/** What is set when the body has been parsed. */
export type ReceivedBody = Pick<ApiRequest, 'body' | 'proxied'>

/** What filters and admission add to the audit record. */
export interface RequestRecord {
  setBody(body: Body): void
  /** The first value of a key wins. Annotations with content of objects are dropped where the record has none. */
  annotate(key: string, value: string, holdsContent?: boolean): void
  /** `constraint` is the verb that allowed it, such as `impersonate:user-info`, or undefined for the unconstrained one. */
  setImpersonated(user: User, constraint: string | undefined): void
}

export interface Origin {
  readonly auditId: string
  /** Path and query as they were sent. */
  readonly uri: string
  readonly remoteAddress: string
  /** Headers that filters add to every response, errors included. */
  readonly responseHeaders: Record<string, string>
}

export type ResourceTarget = Extract<Target, { kind: 'resource' }>

/** A request for a resource, as the registry gets it. */
export type ResourceRequest = ApiRequest & { readonly target: ResourceTarget }

export const isDryRun = ({ query }: ApiRequest): boolean => query.size > 0 && query.getAll('dryRun').includes('All')

const serverUser = userWithName('system:apiserver', ['system:masters'])
const noQuery = new URLSearchParams()

/** A request of the server itself, which passes no filters. */
export const internalRequest = (target: ResourceTarget, context: Context): ResourceRequest => ({
  context,
  credentials: { kind: 'asserted', user: serverUser },
  user: serverUser,
  sender: 'API Server',
  agent: 'kube-apiserver',
  target,
  query: noQuery,
  body: { kind: 'none' },
})
