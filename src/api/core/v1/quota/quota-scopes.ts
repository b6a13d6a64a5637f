// Quota scopes: which objects a quota counts.
import type { Kind } from '../../../kind/kind.ts'
import type { ApiObject } from '../../../meta/object.ts'
import { matchesLabels, type Requirement } from '../../../selectors/selectors.ts'
import { persistentVolumeClaim, type PersistentVolumeClaim } from '../volume/persistent-volume-claim.ts'
import type { PodSpec } from '../pod-spec/pod-spec.ts'
import { pod, type Pod } from '../pod/pod.ts'
import { qosClassOf } from '../pod-spec/qos.ts'
import type { ResourceQuota } from './resource-quota.ts'

/** Every scope must match; an object does not match a scope that its kind does not support. */
export const matchesQuotaScopes = ({ spec }: Pick<ResourceQuota, 'spec'>, kind: Kind, object: ApiObject): boolean =>
  requirementsOf(spec).every((requirement) => applies(requirement, kind, object))

/** The requirements that the object meets. */
export const matchingScopes = (
  requirements: readonly Requirement[],
  kind: Kind,
  object: ApiObject,
): readonly Requirement[] => requirements.filter((requirement) => applies(requirement, kind, object))

export const requirementsOf = ({ scopes = [], scopeSelector }: ResourceQuota['spec']): Requirement[] => [
  ...scopes.map((key): Requirement => ({ key, operator: 'Exists', values: [] })),
  ...(scopeSelector?.matchExpressions ?? []).map(({ scopeName, operator, values = [] }): Requirement => ({
    key: scopeName,
    operator: operator as Requirement['operator'],
    values,
  })),
]

function applies(requirement: Requirement, kind: Kind, object: ApiObject): boolean {
  if (kind === pod) return podApplies(requirement, object as Pod)
  if (kind !== persistentVolumeClaim || requirement.key !== 'VolumeAttributesClass') return false
  const { spec, status } = object as PersistentVolumeClaim
  const names = [
    spec.volumeAttributesClassName,
    status.currentVolumeAttributesClassName,
    status.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ].filter((name) => name !== undefined && name !== '')
  // A claim that changes its class counts for both.
  return names.length === 0
    ? matchesLabels([requirement], {})
    : names.some((name) => matchesLabels([requirement], { [requirement.key]: name ?? '' }))
}

function podApplies(requirement: Requirement, { spec }: Pod): boolean {
  switch (requirement.key) {
    case 'Terminating':
      return isLimitedInTime(spec)
    case 'NotTerminating':
      return !isLimitedInTime(spec)
    case 'BestEffort':
      return qosClassOf(spec) === 'BestEffort'
    case 'NotBestEffort':
      return qosClassOf(spec) !== 'BestEffort'
    case 'PriorityClass': {
      const name = spec.priorityClassName ?? ''
      return matchesLabels([requirement], name === '' ? {} : { [requirement.key]: name })
    }
    case 'CrossNamespacePodAffinity':
      return hasCrossNamespaceTerm(spec)
    default:
      return false
  }
}

const isLimitedInTime = ({ activeDeadlineSeconds }: PodSpec): boolean =>
  activeDeadlineSeconds !== undefined && activeDeadlineSeconds >= 0

function hasCrossNamespaceTerm({ affinity }: PodSpec): boolean {
  const terms = [affinity?.podAffinity, affinity?.podAntiAffinity].flatMap((each) => [
    ...(each?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(each?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ])
  return terms.some((term) => (term?.namespaces ?? []).length > 0 || term?.namespaceSelector !== undefined)
}
