// podResourceFamilies: what the pods of the cluster request and may use, by resource: /metrics/resources of the scheduler.
import { labelPairs, type MetricFamily } from '../../base/observability/exposition.ts'
import { podLimits, podRequests, type Amounts } from '../../api/core/v1/pod/pod-requests.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../api/meta/object.ts'

const what =
  'broken down by pod. This shows the resource usage the scheduler and kubelet expect per pod for resources along with the unit for the resource if any.'

/** Pods that have ended use nothing. */
export function podResourceFamilies(pods: Iterable<Pod>): readonly MetricFamily[] {
  const running = Array.from(pods).filter(({ status: { phase } }) => phase !== 'Succeeded' && phase !== 'Failed')
  return [
    gauge(
      'kube_pod_resource_limit',
      `[STABLE] Resources limit for workloads on the cluster, ${what}`,
      running,
      podLimits,
    ),
    gauge(
      'kube_pod_resource_request',
      `[STABLE] Resources requested by workloads on the cluster, ${what}`,
      running,
      podRequests,
    ),
  ].filter(({ samples }) => samples.length > 0)
}

const gauge = (name: string, help: string, pods: readonly Pod[], amountsOf: (pod: Pod) => Amounts) => ({
  name,
  help,
  type: 'gauge' as const,
  samples: pods.flatMap((pod) =>
    [...amountsOf(pod)]
      .filter(([, amount]) => amount !== 0)
      .map(([resource, amount]) => ({
        suffix: '' as const,
        labels: labelPairs(Object.entries(labelsOf(pod, resource))),
        value: resource === 'cpu' ? amount / 1000 : amount,
      })),
  ),
})

const labelsOf = (pod: Pod, resource: string): Readonly<Record<string, string>> => ({
  namespace: namespaceOf(pod),
  node: pod.spec.nodeName ?? '',
  pod: pod.metadata.name,
  priority: pod.spec.priority === undefined ? '' : String(pod.spec.priority),
  resource,
  scheduler: pod.spec.schedulerName ?? '',
  unit: unitOf(resource),
})

function unitOf(resource: string): string {
  if (resource === 'cpu') return 'cores'
  if (['memory', 'storage', 'ephemeral-storage'].includes(resource) || resource.startsWith('hugepages-')) return 'bytes'
  return resource.startsWith('attachable-volumes-') ? 'integer' : ''
}
