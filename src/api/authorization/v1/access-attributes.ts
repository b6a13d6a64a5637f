// The attributes of access reviews, and their status.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bool, list, listOf, map, message, string, struct } from '../../../schema/descriptor/field.ts'
import { invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { labelSelectorRequirement } from '../../meta/v1/label-selector.ts'

export const fieldSelectorRequirement = message('io.k8s.apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement', {
  key: string(1, { required: true, description: 'The field.' }),
  operator: string(2, { required: true, description: 'In, NotIn, Exists or DoesNotExist.' }),
  values: list(3, 'string', { listType: 'atomic', description: 'The values for In and NotIn.' }),
})

export const fieldSelectorAttributes = message('io.k8s.api.authorization.v1.FieldSelectorAttributes', {
  rawSelector: string(1, { description: 'The selector as text.' }),
  requirements: list(2, fieldSelectorRequirement, {
    listType: 'atomic',
    description: 'The parsed conditions of the selector.',
  }),
})

export const labelSelectorAttributes = message('io.k8s.api.authorization.v1.LabelSelectorAttributes', {
  rawSelector: string(1, { description: 'The selector as text.' }),
  requirements: list(2, labelSelectorRequirement, {
    listType: 'atomic',
    description: 'The parsed conditions of the selector.',
  }),
})

export const resourceAccess = message('io.k8s.api.authorization.v1.ResourceAttributes', {
  namespace: string(1, { description: 'The namespace; empty for all, or for resources without one.' }),
  verb: string(2, { description: 'The verb, such as get or list; * for all.' }),
  group: string(3, { description: 'The API group; * for all.' }),
  version: string(4, { description: 'The API version; * for all.' }),
  resource: string(5, { description: 'The resource in the plural; * for all.' }),
  subresource: string(6, { description: 'The subresource.' }),
  name: string(7, { description: 'The name of the object; empty for all.' }),
  fieldSelector: struct(8, fieldSelectorAttributes, {
    pointer: true,
    description: 'The field selector of a list or watch.',
  }),
  labelSelector: struct(9, labelSelectorAttributes, {
    pointer: true,
    description: 'The label selector of a list or watch.',
  }),
})
export interface ResourceAccess extends Infer<typeof resourceAccess> {}

export const pathAccess = message('io.k8s.api.authorization.v1.NonResourceAttributes', {
  path: string(1, { description: 'The path of the request.' }),
  verb: string(2, { description: 'The HTTP verb in lower case.' }),
})
export interface PathAccess extends Infer<typeof pathAccess> {}

export const subjectAccessReviewSpec = message('io.k8s.api.authorization.v1.SubjectAccessReviewSpec', {
  resourceAttributes: struct(1, resourceAccess, {
    pointer: true,
    description: 'The resource access to check.',
  }),
  nonResourceAttributes: struct(2, pathAccess, {
    pointer: true,
    description: 'The path access to check.',
  }),
  user: string(3, { description: 'The user to check.' }),
  groups: list(4, 'string', { listType: 'atomic', description: 'The groups of the user.' }),
  extra: map(5, listOf('string'), { description: 'Extra attributes of the user.' }),
  uid: string(6, { description: 'The uid of the user.' }),
})
export interface SubjectAccessReviewSpec extends Infer<typeof subjectAccessReviewSpec> {}

export const subjectAccessReviewStatus = message('io.k8s.api.authorization.v1.SubjectAccessReviewStatus', {
  allowed: bool(1, { required: true, keepEmpty: true, description: 'Whether it is allowed.' }),
  reason: string(2, { description: 'The reason of the decision.' }),
  evaluationError: string(3, { description: 'Errors during the decision.' }),
  denied: bool(4, { description: 'Whether it is denied explicitly.' }),
})
export interface SubjectAccessReviewStatus extends Infer<typeof subjectAccessReviewStatus> {}

type Access = Pick<SubjectAccessReviewSpec, 'resourceAttributes' | 'nonResourceAttributes'>

export function validateAccess(spec: Access): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = spec
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined)
    return [
      invalid(
        'spec.nonResourceAttributes',
        nonResourceAttributes,
        'cannot be specified in combination with resourceAttributes',
      ),
    ]
  return resourceAttributes === undefined && nonResourceAttributes === undefined
    ? [
        invalid(
          'spec.resourceAttributes',
          null,
          'exactly one of nonResourceAttributes or resourceAttributes must be specified',
        ),
      ]
    : []
}

export const validateSubject = ({ user = '', groups = [] }: SubjectAccessReviewSpec): FieldError[] =>
  user === '' && groups.length === 0
    ? [invalid('spec.user', user, 'at least one of user or group must be specified')]
    : []
