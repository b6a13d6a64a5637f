// ReplicationController: replicas selected by label equality.
import { pod } from '../../api/core/v1/pod/pod.ts'
import { replicationController, type ReplicationController } from '../../api/core/v1/workload/replication-controller.ts'
import { selects } from '../../api/selectors/selectors.ts'
import { isPodActive } from '../workload/pod-availability.ts'
import { waitingPods } from '../workload/pod-burst.ts'
import { defineController } from '../runtime/controller.ts'
import { measureReplicas, planReplicas } from './replicas.ts'

export const replicationControllerController = defineController<ReplicationController>({
  name: 'replication-controller',
  account: 'replication-controller',
  reconciles: replicationController,
  owns: [pod],
  indexes: [waitingPods],
  measure: measureReplicas,
  measureStale: ({ replicaSetStaleSyncs }) =>
    replicaSetStaleSyncs.add({ group: replicationController.group, resource: replicationController.plural }),
  claims: ({ spec: { selector } }, { metadata }) =>
    selector !== undefined && selects({ matchLabels: selector }, metadata.labels),
  plan(object, view) {
    const { template } = object.spec
    if (template === undefined) return { changes: [] }
    const related = () => view.owned(pod).filter(isPodActive)
    return planReplicas(object, { template, related, countsTerminating: false }, view)
  },
})
