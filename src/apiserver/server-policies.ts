// serverPolicies: authentication, the configured chain of authorizers, admission, and the reviews that depend on them.
import { thenMaybe } from '../base/async/maybe-promise.ts'
import type { Clock } from '../base/time/clock.ts'
import type { AdmissionPlugin } from './admission/framework/admission-plugin.ts'
import type { Auditor } from './audit/auditor.ts'
import { allowsAnonymous, anonymousUser, type AnonymousRules } from './authentication/anonymous.ts'
import {
  authenticated,
  firstAuthenticated,
  type Authenticator,
  type TokenAuthenticator,
} from './authentication/authenticator.ts'
import { tokenAuthenticators, bearerToken } from './authentication/bearer-token.ts'
import type { ServiceAccountTokens } from './authentication/service-account-tokens.ts'
import { tokenRequests } from './reviews/token-requests.ts'
import { tokenReviews } from './reviews/token-reviews.ts'
import { accessReviews } from './reviews/access-reviews.ts'
import { authorizerChain, privileged, type Authorizer } from './authorization/authorizer.ts'
import { privilegeEscalation } from './admission/plugins/privilege-escalation.ts'
import { Rbac } from './authorization/rbac/rbac.ts'
import type { Policies } from './filters/policies.ts'
import type { WebhookConnections } from './outbound/webhook-connections.ts'
import { unlimitedSeats } from './request/request-slot.ts'
import type { ObjectCaches } from './watch-cache/object-caches.ts'

export interface ServerPolicyOptions {
  readonly clock: Clock
  readonly audit?: Auditor | undefined
  /** Priority and fairness; without it every request is handled immediately. */
  readonly fairness?: (caches: ObjectCaches) => Policies['seatOf']
  /** The audiences that tokens must have. */
  readonly audiences: readonly string[]
  readonly anonymous: AnonymousRules
  /** Authenticators that run before the token authenticators: certificates, proxies. */
  readonly authenticators: readonly Authenticator[]
  readonly tokens: (caches: ObjectCaches) => readonly TokenAuthenticator[]
  readonly accountTokens: ServiceAccountTokens
  /** In the order of the chain. */
  readonly authorizers: (rbac: Rbac, caches: ObjectCaches) => readonly Authorizer[]
  readonly admission: readonly AdmissionPlugin[]
  /** For conversion webhooks. */
  readonly webhooks?: WebhookConnections
}

export const serverPolicies =
  ({
    clock,
    audit,
    fairness,
    audiences,
    anonymous,
    authenticators,
    tokens,
    accountTokens,
    authorizers,
    admission,
    webhooks,
  }: ServerPolicyOptions) =>
  (caches: ObjectCaches): Policies => {
    const rbac = new Rbac(caches)
    const chain = authorizerChain([privileged, ...authorizers(rbac, caches)])
    const anyOfTokens = tokenAuthenticators(tokens(caches))
    const all = [...authenticators, bearerToken(anyOfTokens, audiences)]
    return {
      authenticate({ credentials, target, context }) {
        if (credentials.kind === 'asserted') return authenticated(credentials.user, audiences)
        const authentication = firstAuthenticated(all, (each) => each.authenticate(credentials, context.signal))
        return thenMaybe(authentication, (result) =>
          result.kind === 'unknown' && allowsAnonymous(anonymous, target)
            ? authenticated(anonymousUser, audiences)
            : result,
        )
      },
      authorize: (attributes, signal) => chain.authorize(attributes, signal),
      seatOf: fairness?.(caches) ?? (() => unlimitedSeats),
      audit,
      admission: [...admission, privilegeEscalation(rbac, chain)],
      webhooks,
      reviews: [
        ...accessReviews(chain),
        ...tokenReviews(anyOfTokens, audiences, clock),
        tokenRequests(accountTokens, caches, clock),
      ],
      documents: {
        '/.well-known/openid-configuration': {
          contentType: 'application/json',
          get value() {
            return accountTokens.discovery
          },
        },
        '/openid/v1/jwks': {
          contentType: 'application/jwk-set+json',
          get value() {
            return accountTokens.keySet
          },
        },
      },
    }
  }
