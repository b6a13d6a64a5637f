// Rules of roles: what a policy rule must contain, and which rules a namespaced role cannot have.
import { invalid, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { validateLabelSelector } from '../../validation/label-selector-rules.ts'
import type { LabelSelector } from '../../meta/v1/label-selector.ts'
import type { PolicyRule } from './policy-rule.ts'

export const validatePolicyRules = (rules: readonly PolicyRule[], scope: 'cluster' | 'namespace'): FieldError[] =>
  rules.flatMap((rule, index) => validatePolicyRule(rule, `rules[${index}]`, scope))

function validatePolicyRule(rule: Partial<PolicyRule>, path: string, scope: 'cluster' | 'namespace'): FieldError[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  const errors: FieldError[] = []
  if (verbs.length === 0) errors.push(required(`${path}.verbs`, 'verbs must contain at least one value'))
  if (nonResourceURLs.length > 0) {
    const reject = (detail: string) => errors.push(invalid(`${path}.nonResourceURLs`, nonResourceURLs, detail))
    if (scope === 'namespace') reject('namespaced rules cannot apply to non-resource URLs')
    if (apiGroups.length + resources.length + resourceNames.length > 0)
      reject('rules cannot apply to both regular resources and non-resource URLs')
    return errors
  }
  if (apiGroups.length === 0)
    errors.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'))
  if (resources.length === 0)
    errors.push(required(`${path}.resources`, 'resource rules must supply at least one resource'))
  return errors
}

export function validateAggregation(
  aggregationRule: { readonly clusterRoleSelectors?: readonly LabelSelector[] } | undefined,
): FieldError[] {
  if (aggregationRule === undefined) return []
  const path = 'aggregationRule.clusterRoleSelectors'
  const { clusterRoleSelectors = [] } = aggregationRule
  if (clusterRoleSelectors.length === 0)
    return [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
  return clusterRoleSelectors.flatMap((selector, index) => {
    const at = `${path}[${index}]`
    const errors = validateLabelSelector(selector, at)
    return errors.length === 0 ? [] : [...errors, invalid(at, selector, 'invalid label selector.')]
  })
}
