// The conditions of a node whose kubelet has stopped reporting.
import type { Node, NodeCondition } from '../../api/core/v1/node/node.ts'

const kubeletConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const

export const readyCondition = ({ status }: Node): NodeCondition | undefined =>
  status.conditions?.find(({ type }) => type === 'Ready')

/** The conditions with the kubelet's own ones set to Unknown; undefined when they are already. */
export function unknownConditions(node: Node, now: string): readonly NodeCondition[] | undefined {
  const { conditions = [] } = node.status
  const missing = kubeletConditions.filter((type) => !conditions.some((condition) => condition.type === type))
  const isKubeletCondition = (type: string) => kubeletConditions.some((one) => one === type)
  if (missing.length === 0 && conditions.every(({ type, status }) => !isKubeletCondition(type) || status === 'Unknown'))
    return undefined
  return [
    ...conditions.map((condition) =>
      isKubeletCondition(condition.type) && condition.status !== 'Unknown'
        ? stoppedReporting(condition, now)
        : condition,
    ),
    ...missing.map((type) => neverReported(type, node, now)),
  ]
}

const stoppedReporting = (condition: NodeCondition, now: string): NodeCondition => ({
  ...condition,
  status: 'Unknown',
  reason: 'NodeStatusUnknown',
  message: 'Kubelet stopped posting node status.',
  lastTransitionTime: now,
})

const neverReported = (type: string, { metadata }: Node, now: string): NodeCondition => ({
  type,
  status: 'Unknown',
  reason: 'NodeStatusNeverUpdated',
  message: 'Kubelet never posted node status.',
  ...(metadata.creationTimestamp === undefined ? {} : { lastHeartbeatTime: metadata.creationTimestamp }),
  lastTransitionTime: now,
})
