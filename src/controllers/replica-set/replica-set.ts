// ReplicaSet: replicas selected by a label selector. The pods of all ReplicaSets of one Deployment are related.
import { pod } from '../../api/core/v1/pod/pod.ts'
import { replicaSet, type ReplicaSet } from '../../api/apps/v1/replica-set.ts'
import { controllerOf, namespaceOf } from '../../api/meta/object.ts'
import { selects } from '../../api/selectors/selectors.ts'
import { isPodActive } from '../workload/pod-availability.ts'
import { waitingPods } from '../workload/pod-burst.ts'
import { defineController } from '../runtime/controller.ts'
import { measureReplicas, planReplicas } from './replicas.ts'

export const replicaSetController = defineController<ReplicaSet>({
  name: 'replica-set',
  account: 'replicaset-controller',
  reconciles: replicaSet,
  owns: [pod],
  indexes: [waitingPods],
  measure: measureReplicas,
  measureStale: ({ replicaSetStaleSyncs }) =>
    replicaSetStaleSyncs.add({ group: replicaSet.group, resource: replicaSet.plural }),
  claims: ({ spec }, { metadata }) => selects(spec.selector, metadata.labels),
  plan(object, view) {
    const manager = controllerOf(object)?.uid
    const siblings = () =>
      manager === undefined
        ? [object]
        : view.within(replicaSet, namespaceOf(object)).filter((set) => controllerOf(set)?.uid === manager)
    const related = () => siblings().flatMap((set) => view.owned(pod, set).filter(isPodActive))
    return planReplicas(object, { template: object.spec.template, related, countsTerminating: true }, view)
  },
})
