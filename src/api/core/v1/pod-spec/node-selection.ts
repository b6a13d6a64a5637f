// Node selection: whether a node matches a node selector, one of its terms, or a pod's required affinity.
import { lookup } from '../../../../base/collections/lookup.ts'
import type { Labels } from '../../../selectors/selectors.ts'
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from '../scheduling/affinity.ts'
import type { PodSpec } from './pod-spec.ts'

/** The fields of a node that selectors use. */
export interface SelectableNode {
  readonly metadata: { readonly name: string; readonly labels?: Labels }
}

/** Terms are alternatives; without terms no node matches. */
export const matchesNodeSelector = ({ nodeSelectorTerms }: NodeSelector, node: SelectableNode): boolean =>
  nodeSelectorTerms.some((term) => matchesNodeTerm(term, node))

/** All requirements of a term must be met; a term without requirements matches no node. */
export function matchesNodeTerm({ matchExpressions, matchFields }: NodeSelectorTerm, node: SelectableNode): boolean {
  if (!matchExpressions?.length && !matchFields?.length) return false
  const { name, labels } = node.metadata
  return (
    (matchExpressions ?? []).every((demand) => meets(demand, lookup(labels, demand.key))) &&
    (matchFields ?? []).every((demand) => demand.key === 'metadata.name' && meets(demand, name))
  )
}

/** The pod's nodeSelector and its required node affinity together. */
export function matchesRequiredAffinity({ nodeSelector, affinity }: PodSpec, node: SelectableNode): boolean {
  for (const key in nodeSelector) if (lookup(node.metadata.labels, key) !== nodeSelector[key]) return false
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required === undefined || matchesNodeSelector(required, node)
}

function meets({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
    case 'Lt':
      return isBeyond(operator, value, values[0])
    default:
      return false
  }
}

function isBeyond(operator: 'Gt' | 'Lt', value: string | undefined, bound: string | undefined): boolean {
  if (!isInteger(value) || !isInteger(bound)) return false
  return operator === 'Gt' ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound)
}

const isInteger = (text: string | undefined): text is string => text !== undefined && /^[+-]?\d+$/.test(text)
