// SelfSubjectReview: returns the user of the request.
import { message, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { defineKind } from '../../kind/kind.ts'
import { reviewShape } from '../../kind/review-kind.ts'
import { userInfo } from './user-info.ts'

export const selfSubjectReviewStatus = message('io.k8s.api.authentication.v1.SelfSubjectReviewStatus', {
  userInfo: struct(1, userInfo, { description: 'The user of the request.' }),
})

export const selfSubjectReviewMessage = message(
  'io.k8s.api.authentication.v1.SelfSubjectReview',
  {
    metadata: objectMetaField,
    status: struct(2, selfSubjectReviewStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'Returns the user of the request.',
)
export interface SelfSubjectReview extends ObjectOf<typeof selfSubjectReviewMessage> {}
export type SelfSubjectReviewInput = InputOf<typeof selfSubjectReviewMessage>

export const selfSubjectReview = defineKind<SelfSubjectReview, SelfSubjectReviewInput>({
  ...reviewShape,
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  singular: 'selfsubjectreview',
  namespaced: false,
  message: selfSubjectReviewMessage,
  applyDefaults: (object) => object,
  validate: () => [],
})
