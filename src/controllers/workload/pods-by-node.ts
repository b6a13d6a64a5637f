// podsByNode: an index of pods by the node that they are bound to.
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import type { ObjectIndex } from '../runtime/controller.ts'

export const podsByNode: ObjectIndex<Pod> = {
  kind: pod,
  name: 'node',
  valuesOf: ({ spec: { nodeName } }) => (nodeName === undefined ? [] : [nodeName]),
}
