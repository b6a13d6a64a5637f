// NodeUnschedulable: a cordoned node accepts only pods that tolerate it.
import { tolerates } from '../../api/core/v1/node/tolerations.ts'
import { defineSchedulerPlugin, rejection, skip } from '../framework/framework.ts'
import type { NodeColumn } from '../snapshot/node-columns.ts'

const cordonTaint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const
const cordoned = rejection('node(s) were unschedulable', false)

export const nodeUnschedulable = defineSchedulerPlugin<NodeColumn, never>({
  name: 'NodeUnschedulable',
  isLocal: true,
  preFilter: ({ pod, snapshot }) =>
    tolerates(pod.spec.tolerations ?? [], cordonTaint)
      ? skip
      : { kind: 'check', state: snapshot.columns.of('cordoned', ({ spec }) => (spec.unschedulable ? 1 : 0)) },
  filter: (_cycle, slot, isCordoned) => (isCordoned.at(slot) === 1 ? cordoned : undefined),
  eventsToRegister: ['node-added', 'node-changed'],
  queueingHint: (event) =>
    event.kind === 'node-added' ||
    (event.kind === 'node-changed' && event.before.spec.unschedulable !== event.node.spec.unschedulable),
})
