// Policies: what the stations ask. openPolicies lets every certificate's holder do everything: for tests of other rooms.
import type { Kind } from '../../api/kind/kind.ts'
import { defaultAdmissionPlugins } from '../admission/plugins.ts'
import type { AdmissionPlugin } from '../admission/framework/admission-plugin.ts'
import type { Auditor } from '../audit/auditor.ts'
import { certificateUser } from '../authentication/client-certificates.ts'
import type { Authentication } from '../authentication/authenticator.ts'
import { anonymousUser } from '../authentication/anonymous.ts'
import type { AccessAttributes } from '../authorization/attributes.ts'
import { allowed, type Decision } from '../authorization/authorizer.ts'
import type { Review } from '../registry/review.ts'
import type { ObjectLister } from '../registry/strategy.ts'
import type { ApiRequest } from '../request/request.ts'
import type { CacheObserver } from '../watch-cache/watch-cache.ts'

export interface Policies {
  /** Who sends the request. */
  authenticate(request: ApiRequest): Authentication | Promise<Authentication>
  authorize(attributes: AccessAttributes, signal: AbortSignal): Decision | Promise<Decision>
  /** Waits for the request's turn; returns how to end it. */
  readonly takeSeat: TakeSeat
  /** Keeps records of requests; undefined when nobody asked for them. */
  readonly audit?: Auditor | undefined
  readonly admission: readonly AdmissionPlugin[]
  /** What answers creates that keep nothing. */
  readonly reviews: readonly Review[]
  /** What is served at paths of their own. */
  readonly documents: Readonly<Record<string, ServedDocument>>
}

/** At once where a seat is free. */
export type TakeSeat = (request: ApiRequest) => (() => void) | Promise<() => void>

export interface ServedDocument {
  readonly contentType: string
  readonly value: object
}

/** What policies know of the cluster: the registry's caches, never a client. */
export interface ObjectCaches extends ObjectLister {
  /** The observer hears of all that is there and of each change. */
  observe(kind: Kind, observer: CacheObserver): void
  /** How many objects of the kind there are. */
  count(kind: Kind): number
}

const healthPaths = /^\/(healthz|livez|readyz|version)(\/|$)/

export const openPolicies: Policies = {
  authenticate({ credentials, target }) {
    if (credentials.kind === 'asserted') return { kind: 'authenticated', user: credentials.user, audiences: [] }
    const { certificate } = credentials
    if (certificate !== undefined) return { kind: 'authenticated', user: certificateUser(certificate), audiences: [] }
    return target.kind === 'path' && healthPaths.test(target.path)
      ? { kind: 'authenticated', user: anonymousUser, audiences: [] }
      : { kind: 'unknown' }
  },
  authorize: () => allowed(),
  takeSeat: () => () => {},
  admission: defaultAdmissionPlugins,
  reviews: [],
  documents: {},
}
