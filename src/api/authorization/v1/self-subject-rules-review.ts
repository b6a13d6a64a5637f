// SelfSubjectRulesReview: what the user of the request may do in a namespace.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bool, list, message, string, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { defineKind } from '../../kind/kind.ts'
import { reviewShape } from '../../kind/review-kind.ts'

export const resourceRule = message('io.k8s.api.authorization.v1.ResourceRule', {
  verbs: list(1, 'string', { required: true, listType: 'atomic', description: 'The allowed verbs; * for all.' }),
  apiGroups: list(2, 'string', { listType: 'atomic', description: 'The API groups; * for all.' }),
  resources: list(3, 'string', { listType: 'atomic', description: 'The resources; * for all.' }),
  resourceNames: list(4, 'string', { listType: 'atomic', description: 'The names of objects; all without it.' }),
})
export interface ResourceRule extends Infer<typeof resourceRule> {}

export const nonResourceRule = message('io.k8s.api.authorization.v1.NonResourceRule', {
  verbs: list(1, 'string', { required: true, listType: 'atomic', description: 'The allowed verbs; * for all.' }),
  nonResourceURLs: list(2, 'string', { listType: 'atomic', description: 'The paths, which may end with *.' }),
})
export interface NonResourceRule extends Infer<typeof nonResourceRule> {}

export const subjectRulesReviewStatus = message('io.k8s.api.authorization.v1.SubjectRulesReviewStatus', {
  resourceRules: list(1, resourceRule, {
    required: true,
    keepEmpty: true,
    listType: 'atomic',
    description: 'The allowed actions on resources.',
  }),
  nonResourceRules: list(2, nonResourceRule, {
    required: true,
    keepEmpty: true,
    listType: 'atomic',
    description: 'The allowed actions on paths.',
  }),
  incomplete: bool(3, { required: true, keepEmpty: true, description: 'Whether the lists may be incomplete.' }),
  evaluationError: string(4, { description: 'Errors during the evaluation.' }),
})

export const selfSubjectRulesReviewSpec = message('io.k8s.api.authorization.v1.SelfSubjectRulesReviewSpec', {
  namespace: string(1, { description: 'The namespace to evaluate rules for.' }),
})

export const selfSubjectRulesReviewMessage = message(
  'io.k8s.api.authorization.v1.SelfSubjectRulesReview',
  {
    metadata: objectMetaField,
    spec: struct(2, selfSubjectRulesReviewSpec, { required: true, description: 'The wanted state of the object.' }),
    status: struct(3, subjectRulesReviewStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'Lists what the user of the request may do in a namespace.',
)
export interface SelfSubjectRulesReview extends ObjectOf<typeof selfSubjectRulesReviewMessage> {}
export type SelfSubjectRulesReviewInput = InputOf<typeof selfSubjectRulesReviewMessage>

export const selfSubjectRulesReview = defineKind<SelfSubjectRulesReview, SelfSubjectRulesReviewInput>({
  ...reviewShape,
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectRulesReview',
  plural: 'selfsubjectrulesreviews',
  singular: 'selfsubjectrulesreview',
  namespaced: false,
  message: selfSubjectRulesReviewMessage,
  applyDefaults: (object) => object,
  validate: () => [],
})
