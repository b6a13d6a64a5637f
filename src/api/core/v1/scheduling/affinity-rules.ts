// Rules of affinity: terms over nodes and over other pods, and weights of preferred terms.
import { forbidden, invalid, required, type FieldError } from '../../../../schema/validation/field-error.ts'
import { validateLabelSelector } from '../../../validation/label-selector-rules.ts'
import { dnsLabelErrors, dnsSubdomainErrors, labelValueErrors, qualifiedNameErrors } from '../../../validation/names.ts'
import type { LabelSelector } from '../../../meta/v1/label-selector.ts'
import type {
  Affinity,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  PreferredSchedulingTerm,
} from './affinity.ts'

export const validateAffinity = (
  { nodeAffinity, podAffinity, podAntiAffinity }: Affinity,
  path: string,
): FieldError[] => [
  ...(nodeAffinity === undefined ? [] : validateNodeAffinity(nodeAffinity, `${path}.nodeAffinity`)),
  ...(podAffinity === undefined ? [] : validatePodAffinity(podAffinity, `${path}.podAffinity`)),
  ...(podAntiAffinity === undefined ? [] : validatePodAffinity(podAntiAffinity, `${path}.podAntiAffinity`)),
]

const requiredTerms = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferredTerms = 'preferredDuringSchedulingIgnoredDuringExecution'

const validateNodeAffinity = (affinity: NodeAffinity, path: string): FieldError[] => [
  ...(affinity[requiredTerms] === undefined
    ? []
    : validateNodeSelector(affinity[requiredTerms], `${path}.${requiredTerms}`)),
  ...(affinity[preferredTerms] ?? []).flatMap(({ weight, preference }: Partial<PreferredSchedulingTerm>, index) => [
    ...validateWeight(weight ?? 0, `${path}.${preferredTerms}[${index}].weight`),
    ...validateNodeTerm(preference ?? {}, `${path}.${preferredTerms}[${index}].preference`),
  ]),
]

const validateWeight = (weight: number, path: string): FieldError[] =>
  weight < 1 || weight > 100 ? [invalid(path, weight, 'must be in the range 1-100')] : []

export const validateNodeSelector = ({ nodeSelectorTerms = [] }: Partial<NodeSelector>, path: string): FieldError[] =>
  nodeSelectorTerms.length === 0
    ? [required(`${path}.nodeSelectorTerms`, 'must have at least one node selector term')]
    : nodeSelectorTerms.flatMap((term, index) => validateNodeTerm(term, `${path}.nodeSelectorTerms[${index}]`))

const validateNodeTerm = (
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  path: string,
): FieldError[] => [
  ...matchExpressions.flatMap((requirement, index) =>
    validateNodeLabel(requirement, `${path}.matchExpressions[${index}]`),
  ),
  ...matchFields.flatMap((requirement, index) => validateNodeField(requirement, `${path}.matchFields[${index}]`)),
]

function validateNodeLabel(
  { key = '', operator = '', values = [] }: Partial<NodeSelectorRequirement>,
  path: string,
): FieldError[] {
  return [
    ...validateCount(operator, values.length, path),
    ...qualifiedNameErrors(key).map((detail) => invalid(`${path}.key`, key, detail)),
    ...values.flatMap((value, index) =>
      labelValueErrors(value).map((detail) => invalid(`${path}.values[${index}]`, value, detail)),
    ),
  ]
}

function validateCount(operator: string, count: number, path: string): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return count > 0 ? [] : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")]
    case 'Exists':
    case 'DoesNotExist':
      return count === 0
        ? []
        : [forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
    case 'Gt':
    case 'Lt':
      return count === 1
        ? []
        : [required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")]
    default:
      return [invalid(`${path}.operator`, operator, 'not a valid selector operator')]
  }
}

/** The only field of a node that can be selected is its name. */
function validateNodeField(
  { key = '', operator = '', values = [] }: Partial<NodeSelectorRequirement>,
  path: string,
): FieldError[] {
  const errors: FieldError[] = []
  if (operator !== 'In' && operator !== 'NotIn')
    errors.push(invalid(`${path}.operator`, operator, 'not a valid selector operator'))
  else if (values.length !== 1)
    errors.push(
      required(`${path}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"),
    )
  if (key !== 'metadata.name') return [...errors, invalid(`${path}.key`, key, 'not a valid field selector key')]
  return [
    ...errors,
    ...values.flatMap((value, index) =>
      dnsSubdomainErrors(value).map((detail) => invalid(`${path}.values[${index}]`, value, detail)),
    ),
  ]
}

const validatePodAffinity = (affinity: PodAffinity, path: string): FieldError[] => [
  ...(affinity[requiredTerms] ?? []).flatMap((term, index) =>
    validatePodTerm(term, `${path}.${requiredTerms}[${index}]`),
  ),
  ...(affinity[preferredTerms] ?? []).flatMap(({ weight, podAffinityTerm }, index) => [
    ...validateWeight(weight ?? 0, `${path}.${preferredTerms}[${index}].weight`),
    ...validatePodTerm(podAffinityTerm, `${path}.${preferredTerms}[${index}].podAffinityTerm`),
  ]),
]

function validatePodTerm(term: Partial<PodAffinityTerm>, path: string): FieldError[] {
  const { labelSelector, namespaceSelector, namespaces = [], topologyKey = '' } = term
  return [
    ...(labelSelector === undefined ? [] : validateLabelSelector(labelSelector, `${path}.labelSelector`)),
    ...(namespaceSelector === undefined ? [] : validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`)),
    ...namespaces.flatMap((name) => dnsLabelErrors(name).map((detail) => invalid(`${path}.namespace`, name, detail))),
    ...validateLabelKeys(term, path),
    ...(topologyKey === '' ? [required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...qualifiedNameErrors(topologyKey).map((detail) => invalid(`${path}.topologyKey`, topologyKey, detail)),
  ]
}

const keysOf = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): Set<string> =>
  new Set([...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)])

function validateLabelKeys(
  { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: Partial<PodAffinityTerm>,
  path: string,
): FieldError[] {
  const errors = [
    ...validateMatchLabelKeys(matchLabelKeys, labelSelector, `${path}.matchLabelKeys`),
    ...validateMatchLabelKeys(mismatchLabelKeys, labelSelector, `${path}.mismatchLabelKeys`, false),
  ]
  for (const [index, key] of matchLabelKeys.entries())
    if (mismatchLabelKeys.includes(key))
      errors.push(
        invalid(`${path}.matchLabelKeys[${index}]`, key, 'exists in both matchLabelKeys and mismatchLabelKeys'),
      )
  return errors
}

/** Keys that extend a selector: there must be a selector, and it must not contain the keys itself. */
export function validateMatchLabelKeys(
  keys: readonly string[],
  selector: LabelSelector | undefined,
  path: string,
  isDisjoint = true,
): FieldError[] {
  if (keys.length === 0) return []
  if (selector === undefined) return [forbidden(path, 'must not be specified when labelSelector is not set')]
  const named = keysOf(selector)
  return keys.flatMap((key, index) => [
    ...qualifiedNameErrors(key).map((detail) => invalid(`${path}[${index}]`, key, detail)),
    ...(isDisjoint && named.has(key)
      ? [invalid(`${path}[${index}]`, key, 'exists in both matchLabelKeys and labelSelector')]
      : []),
  ])
}
