// The bootstrap objects of a cluster, and the Service through which pods reach the API server.
import { rfc3339, type Clock } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import { namespace } from '../../api/core/v1/namespace.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { serviceCidr } from '../../api/networking/v1/service-cidr.ts'
import type { Kind, ResourceType } from '../../api/kind/kind.ts'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { priorityClass } from '../../api/scheduling/v1/priority-class.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import {
  kubernetesServiceAddressOf,
  serviceRangesDefault,
  type ServiceRanges,
} from '../../apiserver/strategies/service/service-ranges.ts'
import { localApiServices } from '../../apiserver/discovery/local-api-services.ts'
import { fairnessBootstrapObjects } from '../../apiserver/fairness/default-flow-schemas.ts'
import { bootstrapRbacObjects } from '../../apiserver/authorization/bootstrap-policy/bootstrap-rbac-objects.ts'
import type { BootstrapObject, ObjectManifest } from '../../apiserver/bootstrap/bootstrap-object.ts'
import type { Client } from '../../client/client.ts'

const namespaceObject = (name: string): BootstrapObject => ({
  kind: namespace,
  object: {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  } as ObjectManifest,
})

/** Created by the API server before it serves its first request. */
export const bootstrapObjects: readonly BootstrapObject[] = [
  ...['default', 'kube-node-lease', 'kube-public', 'kube-system'].map(namespaceObject),
  ...bootstrapRbacObjects,
  ...fairnessBootstrapObjects,
  ...localApiServices,
]

/** The Service through which pods reach the API server, its endpoints and its ServiceCIDR have this name. */
export const ours = { name: 'kubernetes', namespace: 'default' }
/** The cluster IP of the Service `kubernetes` in the default range. */
export const kubernetesServiceAddress = kubernetesServiceAddressOf(serviceRangesDefault)
export const kubernetesServicePort = 443
const portDefault = 6443

const systemPriorities = [
  {
    metadata: { name: 'system-cluster-critical' },
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    metadata: { name: 'system-node-critical' },
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
]

export async function bootstrapCluster(
  client: Client,
  clock: Clock,
  serviceRanges: ServiceRanges,
  context: Context,
): Promise<void> {
  await Promise.all([...systemPriorities.map((object) => createIfMissing(client, priorityClass, object, context))])
  await publishDefaultRange(client, clock, serviceRanges, context)
  await createIfMissing(client, service, kubernetesService(portDefault, serviceRanges), context)
}

/** The ServiceCIDR of the flags. A second range is added to an existing one; other differences remain. */
async function publishDefaultRange(
  client: Client,
  clock: Clock,
  { clusterCidrs }: ServiceRanges,
  context: Context,
): Promise<void> {
  const ranges = client.of(serviceCidr)
  await createIfMissing(client, serviceCidr, { metadata: { name: ours.name }, spec: { cidrs: clusterCidrs } }, context)
  const found = await ranges.get(ours.name, '', context)
  const [first, ...others] = found.spec.cidrs ?? []
  const isExtended = first === clusterCidrs[0] && others.length === 0 && clusterCidrs.length > 1
  const range = isExtended ? await ranges.update({ ...found, spec: { cidrs: [...clusterCidrs] } }, context) : found
  const ready = {
    type: 'Ready',
    status: 'True' as const,
    reason: '',
    message: 'Kubernetes default Service CIDR is ready',
    lastTransitionTime: rfc3339(clock.nowMs()),
  }
  if (!range.status.conditions?.some(({ type }) => type === ready.type))
    await ranges.updateStatus({ ...range, status: { conditions: [ready] } }, context)
}

export const kubernetesService = (targetPort: number, serviceRanges: ServiceRanges) => ({
  metadata: { ...ours, labels: { component: 'apiserver', provider: 'kubernetes' } },
  spec: {
    clusterIP: kubernetesServiceAddressOf(serviceRanges),
    ports: [{ name: 'https', port: kubernetesServicePort, targetPort }],
  },
})

/** Allows the API server to call kubelets as this user. The role is upstream's; installers create the binding. */
export const bindKubeletClient = (client: Client, user: string, context: Context): Promise<void> =>
  createIfMissing(
    client,
    clusterRoleBinding,
    {
      metadata: { name: 'coxswain:kubelet-api-admin' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:kubelet-api-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    },
    context,
  )

type Named<Input> = Input & { readonly metadata: { readonly name: string; readonly namespace?: string } }

/** Creates the object unless it exists. */
export async function createIfMissing<T extends ApiObject, Input>(
  client: Client,
  kind: ResourceType<T, Input>,
  object: Named<Input>,
  context: Context,
): Promise<void> {
  const { name, namespace: namespaceName = '' } = object.metadata
  if ((await client.of(kind).find(name, namespaceName, context)) !== undefined) return
  await client
    .of(kind)
    .create(object, namespaceName, context)
    .catch((error: unknown) => {
      if (!hasReason(error, 'AlreadyExists')) throw error
    })
}

/** Creates the object, or patches the existing one. */
export async function createOrPatch<T extends ApiObject, Input>(
  client: Client,
  kind: Kind<T, Input>,
  object: Named<Input>,
  context: Context,
): Promise<void> {
  await createIfMissing(client, kind, object, context)
  const { name, namespace: namespaceName = '' } = object.metadata
  await client.of(kind).patch(name, namespaceName, object, 'merge', context)
}
