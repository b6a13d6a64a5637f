// Default spreading: the selector of the services and the workload that a pod belongs to.
import { replicaSet } from '../../../api/apps/v1/replica-set.ts'
import { statefulSet } from '../../../api/apps/v1/stateful-set.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { replicationController } from '../../../api/core/v1/workload/replication-controller.ts'
import { service } from '../../../api/core/v1/service/service.ts'
import { controllerOf, namespaceOf, objectKey } from '../../../api/meta/object.ts'
import {
  matchesLabels,
  selectorOf,
  type Labels,
  type Requirement,
  type Selector,
} from '../../../api/selectors/selectors.ts'
import { byNamespace } from '../../../client/informer/informer.ts'
import type { Informers } from '../../../client/informer/informers.ts'

export const ownersKinds = [replicaSet, replicationController, service, statefulSet]

const equalities = (labels: Labels): Requirement[] =>
  Object.entries(labels).map(([key, value]) => ({ key, operator: 'In', values: [value] }))

/** The combined selector; undefined when there is none. */
export function ownersSelector(pod: Pod, informers: Informers): Selector | undefined {
  const services = informers.of(service)
  services.addIndex('namespace', byNamespace)
  const merged = new Map<string, Requirement>()
  for (const { spec } of services.byIndex('namespace', namespaceOf(pod))) {
    const demands = equalities(spec.selector ?? {})
    if (demands.length > 0 && matchesLabels(demands, pod.metadata.labels))
      for (const demand of demands) merged.set(demand.key, demand)
  }
  const selector = [...merged.values(), ...ownerSelector(pod, informers)]
  return selector.length === 0 ? undefined : selector
}

function ownerSelector(pod: Pod, informers: Informers): Selector {
  const owner = controllerOf(pod)
  if (owner === undefined) return []
  const key = objectKey(namespaceOf(pod), owner.name)
  switch (owner.kind) {
    case 'ReplicaSet':
      return selectorOf(informers.of(replicaSet).get(key)?.spec.selector) ?? []
    case 'StatefulSet':
      return selectorOf(informers.of(statefulSet).get(key)?.spec.selector) ?? []
    case 'ReplicationController':
      return equalities(informers.of(replicationController).get(key)?.spec.selector ?? {})
    default:
      return []
  }
}
