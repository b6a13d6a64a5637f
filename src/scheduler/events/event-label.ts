// The event label of metrics: upstream's resource and action, such as `NodeAdd` or `AssignedPodDelete`.
import { equalValues } from '../../schema/json/json-value.ts'
import type { ClusterEvent } from '../framework/framework.ts'

export function eventLabel(event: ClusterEvent): string {
  switch (event.kind) {
    case 'node-added':
      return 'NodeAdd'
    case 'node-changed':
      return `Node${nodeAction(event)}`
    case 'pod-placed':
      return 'AssignedPodAdd'
    case 'pod-changed':
      return 'AssignedPodUpdate'
    case 'pod-removed':
      return 'AssignedPodDelete'
    case 'object-changed': {
      const action = event.now === undefined ? 'Delete' : event.before === undefined ? 'Add' : 'Update'
      return `${(event.now ?? event.before)?.kind ?? ''}${action}`
    }
    default:
      return event satisfies never
  }
}

function nodeAction({ node, before }: ClusterEvent & { kind: 'node-changed' }): string {
  if (!equalValues(node.status.allocatable, before.status.allocatable)) return 'UpdateNodeAllocatable'
  if (!equalValues(node.metadata.labels, before.metadata.labels)) return 'UpdateNodeLabel'
  if (!equalValues(node.spec.taints, before.spec.taints)) return 'UpdateNodeTaint'
  return 'Update'
}
