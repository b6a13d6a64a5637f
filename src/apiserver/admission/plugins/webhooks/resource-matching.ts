// Which requests a webhook or a policy matches: by operation, resource and scope, and by labels of object and namespace.
import type { NamedRuleWithOperations } from '../../../../api/admissionregistration/v1/match-resources.ts'
import type { LabelSelector } from '../../../../api/meta/v1/label-selector.ts'
import { namespace } from '../../../../api/core/v1/namespace.ts'
import type { Kind } from '../../../../api/kind/kind.ts'
import type { ApiObject } from '../../../../api/meta/object.ts'
import { selects, type Labels } from '../../../../api/selectors/selectors.ts'
import type { AdmissionAttributes, AdmissionHost } from '../../framework/admission-plugin.ts'
import { metadataOf } from '../../framework/subresource-object.ts'
import type { ObjectLister } from '../../../watch-cache/object-caches.ts'

/** Webhook and policy configurations are exempt, so that a broken one can be repaired. */
const excludedGroups = new Set(['admissionregistration.k8s.io'])

export interface ResourceMatching {
  readonly rules?: readonly NamedRuleWithOperations[]
  readonly excludeRules?: readonly NamedRuleWithOperations[]
  readonly matchPolicy?: string
  readonly objectSelector?: LabelSelector
  readonly namespaceSelector?: LabelSelector
}

/** The version of the kind that the rules match; undefined if the request does not match. */
export function matchedKind(
  matching: ResourceMatching,
  attributes: AdmissionAttributes,
  host: Pick<AdmissionHost, 'get' | 'list' | 'versionsOf'>,
): Kind | undefined {
  const { requestKind, kind } = attributes
  if (excludedGroups.has(kind.group)) return undefined
  const { rules = [], excludeRules = [] } = matching
  const versions = matching.matchPolicy === 'Exact' ? [requestKind] : [requestKind, ...host.versionsOf(kind)]
  const matched = (list: readonly NamedRuleWithOperations[]) =>
    versions.find((version) => list.some((rule) => matchesRule(rule, version, attributes)))
  const found = matched(rules)
  if (found === undefined || matched(excludeRules) !== undefined || !matchesObject(matching, attributes))
    return undefined
  return matchesNamespace(matching, attributes, host) ? found : undefined
}

function matchesRule(
  rule: NamedRuleWithOperations,
  kind: Kind,
  { operation, subresource, name }: AdmissionAttributes,
): boolean {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], resourceNames = [], scope } = rule
  if (resourceNames.length > 0 && !resourceNames.includes(name)) return false
  const isOf = (list: readonly string[], value: string) => list.includes('*') || list.includes(value)
  if (!isOf(operations, operation.toUpperCase())) return false
  if (!isOf(apiGroups, kind.group) || !isOf(apiVersions, kind.version)) return false
  if (scope !== '*' && (scope === 'Namespaced') !== kind.namespaced) return false
  return resources.some((resource) => matchesResource(resource, kind.plural, subresource))
}

/** `pods`, `pods/status`, `pods/*`, `*`, `*` with `/status`, `*` with `/*`. */
function matchesResource(pattern: string, plural: string, subresource: string): boolean {
  const [resource = '', subPattern] = pattern.split('/')
  if (resource !== '*' && resource !== plural) return false
  // `pods/*` includes pods, but `pods` does not include their subresources.
  return subPattern === '*' || (subPattern ?? '') === subresource
}

function matchesObject({ objectSelector }: ResourceMatching, { object, old }: AdmissionAttributes): boolean {
  return [object, old].some((each) => each !== undefined && selects(objectSelector, labelsOf(each)))
}

function matchesNamespace(
  { namespaceSelector }: ResourceMatching,
  { kind, namespace: name, object, old }: AdmissionAttributes,
  reads: ObjectLister,
): boolean {
  if (kind === namespace) return selects(namespaceSelector, labelsOf(object ?? old))
  if (!kind.namespaced) return true
  return selects(namespaceSelector, labelsOf(reads.get(namespace, '', name)))
}

const labelsOf = (object: ApiObject | undefined): Labels => metadataOf(object).labels ?? {}
