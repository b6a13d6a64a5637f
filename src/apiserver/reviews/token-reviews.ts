// TokenReview authenticates a token; SelfSubjectReview returns the requesting user.
import { rfc3339, type Clock } from '../../base/time/clock.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { selfSubjectReview } from '../../api/authentication/v1/self-subject-review.ts'
import { tokenReview, type TokenReviewSpec } from '../../api/authentication/v1/token-review.ts'
import { badRequest } from '../../api/errors/status-error.ts'
import { reviewOf } from './access-reviews.ts'
import { userWithName, type User } from '../request/request.ts'
import { authenticatedGroup } from '../request/user-names.ts'
import type { TokenAuthenticator } from '../authentication/authenticator.ts'
import type { Review } from '../request/review.ts'

export const tokenReviews = (
  tokens: TokenAuthenticator,
  ownAudiences: readonly string[],
  clock: Clock,
): readonly Review[] => [
  reviewOf(tokenReview, async (object, { context }) => {
    const { token = '', audiences = [] } = (object as ApiObject & { readonly spec: Partial<TokenReviewSpec> }).spec
    if (token === '') throw badRequest('token is required for TokenReview in authentication')
    const requested = audiences.length === 0 ? ownAudiences : audiences
    const answer = await tokens.authenticateToken(token, requested, context.signal)
    if (answer.kind !== 'authenticated')
      return { user: {}, error: answer.kind === 'rejected' ? answer.reason : 'invalid bearer token' }
    const groups = [...new Set([...answer.user.groups, authenticatedGroup])]
    return { authenticated: true, user: userInfoOf({ ...answer.user, groups }), audiences: answer.audiences }
  }),
  {
    kind: selfSubjectReview,
    subresource: '',
    review: (_, { user = userWithName('') }) => ({
      kind: selfSubjectReview.kind,
      apiVersion: selfSubjectReview.apiVersion,
      metadata: { creationTimestamp: rfc3339(clock.nowMs()) },
      status: { userInfo: userInfoOf(user) },
    }),
  },
]

export const userInfoOf = ({ name, uid, groups, extra }: User): object => ({
  username: name,
  ...(uid === '' ? {} : { uid }),
  ...(groups.length === 0 ? {} : { groups }),
  ...(Object.keys(extra).length === 0 ? {} : { extra }),
})
