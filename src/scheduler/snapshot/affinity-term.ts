// AffinityTerm: a compiled term of a pod's affinity or anti-affinity.
import { lookup } from '../../base/collections/lookup.ts'
import type { PodAffinityTerm } from '../../api/core/v1/scheduling/affinity.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { LabelSelector } from '../../api/meta/v1/label-selector.ts'
import { namespaceOf } from '../../api/meta/object.ts'
import {
  matchesLabels,
  selectorOf,
  type Labels,
  type Requirement,
  type Selector,
} from '../../api/selectors/selectors.ts'

/** Labels of namespaces by name. */
export type NamespaceLabels = ReadonlyMap<string, Labels>

export interface AffinityTerm {
  /** The same for equivalent terms. */
  readonly key: string
  readonly topologyKey: string
  readonly namespaces: ReadonlySet<string>
  readonly namespaceSelector: Selector | undefined
  /** Undefined matches no pod. */
  readonly selector: Selector | undefined
}

export interface WeightedTerm {
  readonly term: AffinityTerm
  /** Negative for anti-affinity. */
  readonly weight: number
}

export function affinityTerm(term: PodAffinityTerm, owner: Pod): AffinityTerm {
  const { topologyKey, namespaces = [], namespaceSelector, labelSelector, matchLabelKeys, mismatchLabelKeys } = term
  const isOwnOnly = namespaces.length === 0 && namespaceSelector === undefined
  const names = isOwnOnly ? [namespaceOf(owner)] : namespaces
  const selector = withLabelKeys(labelSelector, owner.metadata.labels, matchLabelKeys, mismatchLabelKeys)
  const key = JSON.stringify([topologyKey, names, namespaceSelector, selector])
  return {
    key,
    topologyKey,
    namespaces: new Set(names),
    namespaceSelector: selectorOf(namespaceSelector),
    selector,
  }
}

/**
 * Adds requirements for the owner's values of matchLabelKeys and mismatchLabelKeys. Keys that the owner does not have
 * are ignored.
 */
export function withLabelKeys(
  labelSelector: LabelSelector | undefined,
  own: Labels | undefined,
  matchKeys: readonly string[] = [],
  mismatchKeys: readonly string[] = [],
): Selector | undefined {
  const selector = selectorOf(labelSelector)
  if (selector === undefined || matchKeys.length + mismatchKeys.length === 0) return selector
  const demand = (keys: readonly string[], operator: 'In' | 'NotIn'): Requirement[] =>
    keys.flatMap((key) => {
      const value = lookup(own, key)
      return value === undefined ? [] : [{ key, operator, values: [value] }]
    })
  return [...selector, ...demand(matchKeys, 'In'), ...demand(mismatchKeys, 'NotIn')]
}

export function termMatches(
  { namespaces, namespaceSelector, selector }: AffinityTerm,
  pod: Pod,
  namespaceLabels: NamespaceLabels,
): boolean {
  if (selector === undefined) return false
  const namespace = namespaceOf(pod)
  const isMeant =
    namespaces.has(namespace) ||
    (namespaceSelector !== undefined && matchesLabels(namespaceSelector, namespaceLabels.get(namespace)))
  return isMeant && matchesLabels(selector, pod.metadata.labels)
}
