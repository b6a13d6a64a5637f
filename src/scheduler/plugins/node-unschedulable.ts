// NodeUnschedulable: a cordoned node takes no new pods, unless they tolerate it.
import { tolerates } from '../../api/core/v1/tolerations.ts'
import { defineSchedulerPlugin, fits } from '../framework.ts'

const cordonTaint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const

export const nodeUnschedulable = defineSchedulerPlugin({
  name: 'NodeUnschedulable',
  filter: ({ pod }, { node }) =>
    !node.spec.unschedulable || tolerates(pod.spec.tolerations ?? [], cordonTaint)
      ? fits
      : { kind: 'rejected', reason: 'node(s) were unschedulable', resolvable: false },
  wakesOn: (event) =>
    event.kind === 'node-added' ||
    (event.kind === 'node-changed' && event.before.spec.unschedulable !== event.node.spec.unschedulable),
})
