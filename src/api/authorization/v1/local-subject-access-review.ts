// LocalSubjectAccessReview: whether a user may perform an action in one namespace.
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
import { invalid } from '../../../schema/validation/field-error.ts'

export const localSubjectAccessReviewMessage = message(
  'io.k8s.api.authorization.v1.LocalSubjectAccessReview',
  {
    metadata: objectMetaField,
    spec: struct(2, subjectAccessReviewSpec, { required: true, description: 'The wanted state of the object.' }),
    status: struct(3, subjectAccessReviewStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'Checks whether a user may perform an action in one namespace.',
)
export interface LocalSubjectAccessReview extends ObjectOf<typeof localSubjectAccessReviewMessage> {}
export type LocalSubjectAccessReviewInput = InputOf<typeof localSubjectAccessReviewMessage>

export const localSubjectAccessReview = defineKind<LocalSubjectAccessReview, LocalSubjectAccessReviewInput>({
  ...reviewShape,
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'LocalSubjectAccessReview',
  plural: 'localsubjectaccessreviews',
  singular: 'localsubjectaccessreview',
  namespaced: true,
  message: localSubjectAccessReviewMessage,
  applyDefaults: (object) => object,
  validate: ({ spec }) => [
    ...validateAccess(spec),
    ...validateSubject(spec),
    ...(spec.nonResourceAttributes === undefined
      ? []
      : [invalid('spec.nonResourceAttributes', spec.nonResourceAttributes, 'disallowed on this kind of request')]),
  ],
})
