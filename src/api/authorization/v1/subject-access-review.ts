// SubjectAccessReview: whether a user may perform an action.
import { message, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { defineKind } from '../../kind/kind.ts'
import { reviewShape } from '../../kind/review-kind.ts'
import {
  subjectAccessReviewSpec,
  subjectAccessReviewStatus,
  validateAccess,
  validateSubject,
} from './access-attributes.ts'

export const subjectAccessReviewMessage = message(
  'io.k8s.api.authorization.v1.SubjectAccessReview',
  {
    metadata: objectMetaField,
    spec: struct(2, subjectAccessReviewSpec, { required: true, description: 'The wanted state of the object.' }),
    status: struct(3, subjectAccessReviewStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'Checks whether a user may perform an action.',
)
export interface SubjectAccessReview extends ObjectOf<typeof subjectAccessReviewMessage> {}
export type SubjectAccessReviewInput = InputOf<typeof subjectAccessReviewMessage>

export const subjectAccessReview = defineKind<SubjectAccessReview, SubjectAccessReviewInput>({
  ...reviewShape,
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  singular: 'subjectaccessreview',
  namespaced: false,
  message: subjectAccessReviewMessage,
  applyDefaults: (object) => object,
  validate: ({ spec }) => [...validateAccess(spec), ...validateSubject(spec)],
})
