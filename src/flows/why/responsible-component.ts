// Which component is responsible for the objects of each kind. `why` never reports "No problem found" for an object
// without a responsible component; it reports that the object has no effect, and what that means.
import { lookup } from '../../base/collections/lookup.ts'
import { qualifiedResource, type ResourceType } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'

export type Responsibility =
  /** A component reconciles the object. */
  | { readonly kind: 'reconciled'; readonly by: string }
  /** The object only contains data; no component has to act on it. */
  | { readonly kind: 'data'; readonly readers: string }
  /** The object has no effect in this cluster yet, or only a part of it. */
  | { readonly kind: 'unserved'; readonly sentence: string }

const reconciled: Readonly<Record<string, string>> = {
  'apiservices.apiregistration.k8s.io': 'the API server',
  'certificatesigningrequests.certificates.k8s.io': 'the certificate controllers',
  'clusterrolebindings.rbac.authorization.k8s.io': 'the RBAC authorizer',
  'cronjobs.batch': 'the cron job controller',
  'customresourcedefinitions.apiextensions.k8s.io': 'the API server',
  'daemonsets.apps': 'the daemon set controller',
  'deployments.apps': 'the deployment controller',
  'horizontalpodautoscalers.autoscaling': 'the horizontal pod autoscaler',
  'jobs.batch': 'the job controller',
  'mutatingadmissionpolicies.admissionregistration.k8s.io': 'admission',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': 'admission',
  namespaces: 'the namespace controller',
  nodes: 'its kubelet and the node lifecycle controller',
  persistentvolumeclaims: 'the persistent volume binder',
  persistentvolumes: 'the persistent volume binder',
  'poddisruptionbudgets.policy': 'the disruption controller',
  pods: 'the scheduler and the kubelet of its node',
  'replicasets.apps': 'the replica set controller',
  replicationcontrollers: 'the replication controller',
  'resourceclaims.resource.k8s.io': 'the scheduler and the resource claim controller',
  resourcequotas: 'the quota controller',
  'rolebindings.rbac.authorization.k8s.io': 'the RBAC authorizer',
  serviceaccounts: 'the service account controller',
  'servicecidrs.networking.k8s.io': 'the service CIDR controller',
  services: 'the endpoint slice controller, the proxy of each node and the DNS server',
  'statefulsets.apps': 'the stateful set controller',
  'validatingadmissionpolicies.admissionregistration.k8s.io': 'admission and the policy status controller',
  'validatingwebhookconfigurations.admissionregistration.k8s.io': 'admission',
  'volumeattachments.storage.k8s.io': 'the attach/detach controller and its storage driver',
}

const admission = 'Admission reads it with each request'
const authorizer = 'The RBAC authorizer reads it with each request'
const scheduler = 'The scheduler and the admission plugins read it'

const data: Readonly<Record<string, string>> = {
  'clusterroles.rbac.authorization.k8s.io': authorizer,
  configmaps: 'Pods and controllers read it',
  'controllerrevisions.apps': 'The controller of its owner reads it',
  'csidrivers.storage.k8s.io': 'The kubelets, the scheduler and the attach/detach controller read it',
  'csinodes.storage.k8s.io': 'Its kubelet writes it; the scheduler reads it',
  'csistoragecapacities.storage.k8s.io': 'The scheduler reads it; a storage driver publishes it',
  'deviceclasses.resource.k8s.io': scheduler,
  endpoints: 'The endpoints controller writes it for the Service of the same name',
  'endpointslices.discovery.k8s.io': 'The endpoint slice controller writes it for a Service',
  events: 'People and tools read it',
  'events.events.k8s.io': 'People and tools read it',
  'flowschemas.flowcontrol.apiserver.k8s.io': 'Priority and fairness reads it with each request',
  'ipaddresses.networking.k8s.io': 'The API server writes it for the address of a Service',
  'leases.coordination.k8s.io': 'The component that holds it renews it',
  limitranges: admission,
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': admission,
  podtemplates: 'Clients read it',
  'priorityclasses.scheduling.k8s.io': scheduler,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': 'Priority and fairness reads it with each request',
  'resourceclaimtemplates.resource.k8s.io': 'The resource claim controller reads it for each pod that names it',
  'resourceslices.resource.k8s.io': 'The scheduler reads it; a device driver publishes it',
  'roles.rbac.authorization.k8s.io': authorizer,
  'runtimeclasses.node.k8s.io': scheduler,
  secrets: 'Pods and controllers read it',
  'storageclasses.storage.k8s.io': 'The persistent volume binder, the scheduler and provisioners read it',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': admission,
  'volumeattributesclasses.storage.k8s.io': 'The resizers of storage drivers read it',
}

interface Unserved {
  readonly sentence: string
  /** Whether another component has processed it. */
  readonly isServed?: (object: ApiObject) => boolean
}

const unserved: Readonly<Record<string, Unserved>> = {
  'ingressclasses.networking.k8s.io': {
    sentence: 'It has an effect only while the ingress controller that it names runs.',
  },
  'ingresses.networking.k8s.io': {
    sentence: 'No ingress controller has taken it: start that of Coxswain (coxswain up --ingress on), or another one.',
    isServed: (object) =>
      ((object as { status?: { loadBalancer?: { ingress?: object[] } } }).status?.loadBalancer?.ingress ?? []).length >
      0,
  },
  'networkpolicies.networking.k8s.io': {
    sentence:
      'Nodes with real containers enforce it, and so does the network of simulated pods; coxswain flow shows what each real node applied.',
  },
}

/** Undefined for kinds that are not stored. */
export function responsibilityFor(kind: ResourceType, object: ApiObject): Responsibility | undefined {
  const resource = qualifiedResource(kind)
  const { sentence, isServed = () => false } = lookup(unserved, resource) ?? {}
  if (sentence !== undefined)
    return isServed(object)
      ? { kind: 'reconciled', by: 'a component that has reported on it' }
      : { kind: 'unserved', sentence }
  const readers = lookup(data, resource)
  if (readers !== undefined) return { kind: 'data', readers }
  const by = lookup(reconciled, resource)
  return by === undefined ? undefined : { kind: 'reconciled', by }
}
