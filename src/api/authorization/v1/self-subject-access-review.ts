// SelfSubjectAccessReview: whether the user of the request may perform an action.
import { message, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { defineKind } from '../../kind/kind.ts'
import { reviewShape } from '../../kind/review-kind.ts'
import { pathAccess, resourceAccess, subjectAccessReviewStatus, validateAccess } from './access-attributes.ts'

export const selfSubjectAccessReviewSpec = message('io.k8s.api.authorization.v1.SelfSubjectAccessReviewSpec', {
  resourceAttributes: struct(1, resourceAccess, {
    pointer: true,
    description: 'The resource access to check.',
  }),
  nonResourceAttributes: struct(2, pathAccess, {
    pointer: true,
    description: 'The path access to check.',
  }),
})

export const selfSubjectAccessReviewMessage = message(
  'io.k8s.api.authorization.v1.SelfSubjectAccessReview',
  {
    metadata: objectMetaField,
    spec: struct(2, selfSubjectAccessReviewSpec, { required: true, description: 'The wanted state of the object.' }),
    status: struct(3, subjectAccessReviewStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'Checks whether the user of the request may perform an action.',
)
export interface SelfSubjectAccessReview extends ObjectOf<typeof selfSubjectAccessReviewMessage> {}
export type SelfSubjectAccessReviewInput = InputOf<typeof selfSubjectAccessReviewMessage>

export const selfSubjectAccessReview = defineKind<SelfSubjectAccessReview, SelfSubjectAccessReviewInput>({
  ...reviewShape,
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  singular: 'selfsubjectaccessreview',
  namespaced: false,
  message: selfSubjectAccessReviewMessage,
  applyDefaults: (object) => object,
  validate: ({ spec }) => validateAccess(spec),
})
