// Authenticator: determines the user of a request from its credentials. Authenticators are tried in order until one succeeds.
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { Presented, User } from '../request/request.ts'

export type Authentication =
  /** `audiences`: the requested audiences for which the credential is valid. */
  | { readonly kind: 'authenticated'; readonly user: User; readonly audiences: readonly string[] }
  /** The credential is of another type. */
  | { readonly kind: 'unknown' }
  /** The credential is invalid. The client gets 401 without the reason. */
  | { readonly kind: 'rejected'; readonly reason: string }

export interface Authenticator {
  readonly name: string
  authenticate(presented: Presented, signal: AbortSignal): Authentication | Promise<Authentication>
}

export interface TokenAuthenticator {
  readonly name: string
  /** The token must be valid for one of `audiences`. */
  authenticateToken(
    token: string,
    audiences: readonly string[],
    signal: AbortSignal,
  ): Authentication | Promise<Authentication>
}

export const unknown: Authentication = { kind: 'unknown' }
export const rejected = (reason: string): Authentication => ({ kind: 'rejected', reason })
export const authenticated = (user: User, audiences: readonly string[]): Authentication => ({
  kind: 'authenticated',
  user,
  audiences,
})

/** Tries the authenticators in order until one succeeds; otherwise returns the reasons of all that rejected the credential. */
export function firstAuthenticated<A>(
  authenticators: readonly A[],
  ask: (authenticator: A) => MaybePromise<Authentication>,
): MaybePromise<Authentication> {
  return firstAuthenticatedFrom(0, authenticators, ask, [])
}

function firstAuthenticatedFrom<A>(
  first: number,
  authenticators: readonly A[],
  ask: (authenticator: A) => MaybePromise<Authentication>,
  earlier: readonly string[],
): MaybePromise<Authentication> {
  for (let at = first, reasons = earlier; ; at++) {
    const authenticator = authenticators[at]
    if (authenticator === undefined) return reasons.length === 0 ? unknown : rejected(reasons.join(', '))
    const answer = ask(authenticator)
    if (answer instanceof Promise)
      return answer.then((known) =>
        known.kind === 'authenticated'
          ? known
          : firstAuthenticatedFrom(at + 1, authenticators, ask, withRejection(reasons, known)),
      )
    if (answer.kind === 'authenticated') return answer
    reasons = withRejection(reasons, answer)
  }
}

const withRejection = (reasons: readonly string[], answer: Authentication): readonly string[] =>
  answer.kind === 'rejected' ? [...reasons, answer.reason] : reasons

/** The audiences of a credential without audiences, which is valid only for this API server. */
export const commonAudiences = (requested: readonly string[], own: readonly string[]): readonly string[] =>
  requested.filter((audience) => own.includes(audience))
