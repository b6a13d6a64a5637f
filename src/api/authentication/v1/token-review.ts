// TokenReview: authenticates a token.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bool, list, message, string, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { defineKind } from '../../kind/kind.ts'
import { reviewShape } from '../../kind/review-kind.ts'
import { userInfo } from './user-info.ts'

export const tokenReviewSpec = message('io.k8s.api.authentication.v1.TokenReviewSpec', {
  token: string(1, { required: true, omitEmpty: true, description: 'The token to authenticate.' }),
  audiences: list(2, 'string', {
    listType: 'atomic',
    description: 'The audiences, at least one of which the token must have.',
  }),
})
export interface TokenReviewSpec extends Infer<typeof tokenReviewSpec> {}

export const tokenReviewStatus = message('io.k8s.api.authentication.v1.TokenReviewStatus', {
  authenticated: bool(1, { description: 'Whether the token is valid.' }),
  user: struct(2, userInfo, { description: 'The user of the token.' }),
  error: string(3, { description: 'Why the token could not be checked.' }),
  audiences: list(4, 'string', {
    listType: 'atomic',
    description: 'The requested audiences that the token has.',
  }),
})
export interface TokenReviewStatus extends Infer<typeof tokenReviewStatus> {}

export const tokenReviewMessage = message(
  'io.k8s.api.authentication.v1.TokenReview',
  {
    metadata: objectMetaField,
    spec: struct(2, tokenReviewSpec, { required: true, description: 'The wanted state of the object.' }),
    status: struct(3, tokenReviewStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'Authenticates a token.',
)
export interface TokenReview extends ObjectOf<typeof tokenReviewMessage> {}
export type TokenReviewInput = InputOf<typeof tokenReviewMessage>

export const tokenReview = defineKind<TokenReview, TokenReviewInput>({
  ...reviewShape,
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  singular: 'tokenreview',
  namespaced: false,
  message: tokenReviewMessage,
  applyDefaults: (object) => object,
  validate: () => [],
})
