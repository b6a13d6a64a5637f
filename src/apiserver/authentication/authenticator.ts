// Authenticator: who presents these credentials? Several are asked in order; the first that knows the answer gives it.
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { Presented, User } from '../request/request.ts'

export type Authentication =
  /** `audiences`: those of the asked ones that the proof is meant for. */
  | { readonly kind: 'authenticated'; readonly user: User; readonly audiences: readonly string[] }
  /** Not this authenticator's sort of proof. */
  | { readonly kind: 'unknown' }
  /** Its sort of proof, and not valid. The sender is told no more than 401. */
  | { readonly kind: 'refused'; readonly reason: string }

export interface Authenticator {
  readonly name: string
  authenticate(presented: Presented, signal: AbortSignal): Authentication | Promise<Authentication>
}

export interface TokenAuthenticator {
  readonly name: string
  /** `audiences`: whom the token must be meant for, one of them at least. */
  authenticateToken(
    token: string,
    audiences: readonly string[],
    signal: AbortSignal,
  ): Authentication | Promise<Authentication>
}

export const unknown: Authentication = { kind: 'unknown' }
export const rejected = (reason: string): Authentication => ({ kind: 'refused', reason })
export const authenticated = (user: User, audiences: readonly string[]): Authentication => ({
  kind: 'authenticated',
  user,
  audiences,
})

/** Asks one after the other until one knows; when none does, why those that tried refused. */
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
  for (let at = first, refusals = earlier; ; at++) {
    const authenticator = authenticators[at]
    if (authenticator === undefined) return refusals.length === 0 ? unknown : rejected(refusals.join(', '))
    const answer = ask(authenticator)
    if (answer instanceof Promise)
      return answer.then((known) =>
        known.kind === 'authenticated'
          ? known
          : firstAuthenticatedFrom(at + 1, authenticators, ask, withRejection(refusals, known)),
      )
    if (answer.kind === 'authenticated') return answer
    refusals = withRejection(refusals, answer)
  }
}

const withRejection = (refusals: readonly string[], answer: Authentication): readonly string[] =>
  answer.kind === 'refused' ? [...refusals, answer.reason] : refusals

/** Whether a proof that names no audience serves for the asked ones: it is meant for this API server. */
export const commonAudiences = (asked: readonly string[], own: readonly string[]): readonly string[] =>
  asked.filter((audience) => own.includes(audience))
