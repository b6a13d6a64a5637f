// podsByNode: the pods that stand on each node.
import { pod, type Pod } from '../api/core/v1/pod.ts'
import type { Grouping } from './controller.ts'

export const podsByNode: Grouping<Pod> = {
  kind: pod,
  name: 'node',
  groupsOf: ({ spec: { nodeName } }) => (nodeName === undefined ? [] : [nodeName]),
}
