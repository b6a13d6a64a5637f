// Node selectors and required node affinity: whether a node is one that a pod may be on.
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from './affinity.ts'
import type { Node } from './node.ts'
import type { PodSpec } from './pod-spec.ts'

/** Whether the node has the labels of `nodeSelector` and meets one term of the required affinity. */
export function isNodeWanted({ nodeSelector = {}, affinity }: PodSpec, node: Node): boolean {
  const labels = node.metadata.labels ?? {}
  if (!Object.entries(nodeSelector).every(([key, value]) => labels[key] === value)) return false
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required === undefined || matchesNodeSelector(required, node)
}

/** One of the terms must match. */
export const matchesNodeSelector = ({ nodeSelectorTerms }: NodeSelector, node: Node): boolean =>
  nodeSelectorTerms.some((term) => matchesNodeTerm(term, node))

/** All demands of a term must be met; a term without any matches nothing. */
export function matchesNodeTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  const labels = node.metadata.labels ?? {}
  return (
    matchExpressions.every((requirement) => isMet(requirement, labels[requirement.key])) &&
    matchFields.every((requirement) => requirement.key === 'metadata.name' && isMet(requirement, node.metadata.name))
  )
}

function isMet({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
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

const integer = /^[+-]?\d+$/

function isBeyond(operator: 'Gt' | 'Lt', value: string | undefined, limit: string | undefined): boolean {
  if (value === undefined || limit === undefined || !integer.test(value) || !integer.test(limit)) return false
  return operator === 'Gt' ? BigInt(value) > BigInt(limit) : BigInt(value) < BigInt(limit)
}
