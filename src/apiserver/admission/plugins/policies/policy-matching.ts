// Which requests a policy and its bindings apply to.
import type { MatchResources } from '../../../../api/admissionregistration/v1/match-resources.ts'
import { qualifiedResource, type Kind } from '../../../../api/kind/kind.ts'
import type { ApiObject } from '../../../../api/meta/object.ts'
import type { AdmissionAttributes, AdmissionHost } from '../../framework/admission-plugin.ts'
import { matchedKind } from '../webhooks/resource-matching.ts'

/** Authentication and authorization reviews, on which other components depend, are exempt from policies. */
const excludedResources = new Set([
  'localsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectreviews.authentication.k8s.io',
  'selfsubjectrulesreviews.authorization.k8s.io',
  'subjectaccessreviews.authorization.k8s.io',
  'tokenreviews.authentication.k8s.io',
])

/** The version of the kind in which the policy sees the object; undefined if the policy does not apply. */
export function matchedPolicy(
  match: MatchResources | undefined,
  attributes: AdmissionAttributes,
  host: AdmissionHost,
): Kind | undefined {
  if (match === undefined || excludedResources.has(qualifiedResource(attributes.kind))) return undefined
  const { resourceRules: rules = [], excludeResourceRules: excludeRules = [], ...rest } = match
  return matchedKind({ ...rest, rules, excludeRules }, attributes, host)
}

const everything = [
  { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], scope: '*' },
] as const

/** A binding without rules matches everything that its policy matches. */
export function matchesBinding(
  match: MatchResources | undefined,
  attributes: AdmissionAttributes,
  host: AdmissionHost,
): boolean {
  if (match === undefined) return true
  const hasRules = (match.resourceRules ?? []).length > 0
  return matchedPolicy(hasRules ? match : { ...match, resourceRules: everything }, attributes, host) !== undefined
}

interface Binding extends ApiObject {
  readonly spec: { readonly policyName?: string }
}

/** Ordered by name. */
export const bindingsOf = <B extends Binding>({ metadata }: ApiObject, bindings: readonly B[]): readonly B[] =>
  bindings
    .filter(({ spec }) => spec.policyName === metadata.name)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
