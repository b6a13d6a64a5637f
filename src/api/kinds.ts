// All served kinds, by group and version in the order of discovery.
import { mutatingAdmissionPolicyBinding } from './admissionregistration/v1/mutating-admission-policy-binding.ts'
import { mutatingAdmissionPolicy } from './admissionregistration/v1/mutating-admission-policy.ts'
import { mutatingWebhookConfiguration } from './admissionregistration/v1/mutating-webhook-configuration.ts'
import { validatingAdmissionPolicyBinding } from './admissionregistration/v1/validating-admission-policy-binding.ts'
import { validatingAdmissionPolicy } from './admissionregistration/v1/validating-admission-policy.ts'
import { validatingWebhookConfiguration } from './admissionregistration/v1/validating-webhook-configuration.ts'
import { customResourceDefinition } from './apiextensions/v1/custom-resource-definition.ts'
import { apiService } from './apiregistration/v1/api-service.ts'
import { controllerRevision } from './apps/v1/controller-revision.ts'
import { daemonSet } from './apps/v1/daemon-set.ts'
import { deployment } from './apps/v1/deployment.ts'
import { replicaSet } from './apps/v1/replica-set.ts'
import { statefulSet } from './apps/v1/stateful-set.ts'
import { selfSubjectReview } from './authentication/v1/self-subject-review.ts'
import { tokenReview } from './authentication/v1/token-review.ts'
import { localSubjectAccessReview } from './authorization/v1/local-subject-access-review.ts'
import { selfSubjectAccessReview } from './authorization/v1/self-subject-access-review.ts'
import { selfSubjectRulesReview } from './authorization/v1/self-subject-rules-review.ts'
import { subjectAccessReview } from './authorization/v1/subject-access-review.ts'
import { horizontalPodAutoscalerV1 } from './autoscaling/v1/horizontal-pod-autoscaler.ts'
import { horizontalPodAutoscaler } from './autoscaling/v2/horizontal-pod-autoscaler.ts'
import { cronJob } from './batch/v1/cron-job.ts'
import { job } from './batch/v1/job.ts'
import { certificateSigningRequest } from './certificates/v1/certificate-signing-request.ts'
import { lease } from './coordination/v1/lease.ts'
import { leaseCandidate } from './coordination/v1beta1/lease-candidate.ts'
import { binding } from './core/v1/binding.ts'
import { componentStatus } from './core/v1/component-status.ts'
import { configMap } from './core/v1/config-map.ts'
import { endpoints } from './core/v1/service/endpoints.ts'
import { event } from './core/v1/event.ts'
import { limitRange } from './core/v1/quota/limit-range.ts'
import { namespace } from './core/v1/namespace.ts'
import { node } from './core/v1/node/node.ts'
import { persistentVolumeClaim } from './core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from './core/v1/volume/persistent-volume.ts'
import { podTemplate } from './core/v1/workload/pod-template.ts'
import { pod } from './core/v1/pod/pod.ts'
import { replicationController } from './core/v1/workload/replication-controller.ts'
import { resourceQuota } from './core/v1/quota/resource-quota.ts'
import { secret } from './core/v1/secret.ts'
import { serviceAccount } from './core/v1/service-account.ts'
import { service } from './core/v1/service/service.ts'
import { endpointSlice } from './discovery/v1/endpoint-slice.ts'
import { flowSchema } from './flowcontrol/v1/flow-schema.ts'
import { priorityLevelConfiguration } from './flowcontrol/v1/priority-level-configuration.ts'
import { nodeMetrics } from './metrics/v1beta1/node-metrics.ts'
import { podMetrics } from './metrics/v1beta1/pod-metrics.ts'
import { ingressClass } from './networking/v1/ingress-class.ts'
import { ingress } from './networking/v1/ingress.ts'
import { ipAddress } from './networking/v1/ip-address.ts'
import { networkPolicy } from './networking/v1/network-policy.ts'
import { serviceCidr } from './networking/v1/service-cidr.ts'
import { runtimeClass } from './node/v1/runtime-class.ts'
import { podDisruptionBudget } from './policy/v1/pod-disruption-budget.ts'
import { clusterRoleBinding } from './rbac/v1/cluster-role-binding.ts'
import { clusterRole } from './rbac/v1/cluster-role.ts'
import { roleBinding } from './rbac/v1/role-binding.ts'
import { role } from './rbac/v1/role.ts'
import { deviceClass } from './resource/v1/device-class.ts'
import { resourceClaimTemplate } from './resource/v1/resource-claim-template.ts'
import { resourceClaim } from './resource/v1/resource-claim.ts'
import { resourceSlice } from './resource/v1/resource-slice.ts'
import { priorityClass } from './scheduling/v1/priority-class.ts'
import { csiDriver } from './storage/v1/csi-driver.ts'
import { csiNode } from './storage/v1/csi-node.ts'
import { csiStorageCapacity } from './storage/v1/csi-storage-capacity.ts'
import { storageClass } from './storage/v1/storage-class.ts'
import { volumeAttachment } from './storage/v1/volume-attachment.ts'
import { volumeAttributesClass } from './storage/v1/volume-attributes-class.ts'
import { eventsEvent } from './events/v1/event.ts'
import type { Kind } from './kind/kind.ts'

export const kinds: readonly Kind[] = [
  // v1
  binding,
  componentStatus,
  configMap,
  endpoints,
  event,
  limitRange,
  namespace,
  node,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  podTemplate,
  replicationController,
  resourceQuota,
  secret,
  service,
  serviceAccount,
  // apiregistration.k8s.io/v1
  apiService,
  // apps/v1
  controllerRevision,
  daemonSet,
  deployment,
  replicaSet,
  statefulSet,
  // events.k8s.io/v1
  eventsEvent,
  // authentication.k8s.io/v1
  selfSubjectReview,
  tokenReview,
  // authorization.k8s.io/v1
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
  // autoscaling/v2, autoscaling/v1
  horizontalPodAutoscaler,
  horizontalPodAutoscalerV1,
  // batch/v1
  cronJob,
  job,
  // certificates.k8s.io/v1
  certificateSigningRequest,
  // networking.k8s.io/v1
  ingress,
  ingressClass,
  ipAddress,
  networkPolicy,
  serviceCidr,
  // policy/v1
  podDisruptionBudget,
  // rbac.authorization.k8s.io/v1
  clusterRole,
  clusterRoleBinding,
  role,
  roleBinding,
  // storage.k8s.io/v1
  csiDriver,
  csiNode,
  csiStorageCapacity,
  storageClass,
  volumeAttachment,
  volumeAttributesClass,
  // admissionregistration.k8s.io/v1
  mutatingAdmissionPolicy,
  mutatingAdmissionPolicyBinding,
  mutatingWebhookConfiguration,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
  validatingWebhookConfiguration,
  // apiextensions.k8s.io/v1
  customResourceDefinition,
  // scheduling.k8s.io/v1
  priorityClass,
  // coordination.k8s.io/v1
  lease,
  // node.k8s.io/v1
  runtimeClass,
  // discovery.k8s.io/v1
  endpointSlice,
  // resource.k8s.io/v1
  deviceClass,
  resourceClaim,
  resourceClaimTemplate,
  resourceSlice,
  // flowcontrol.apiserver.k8s.io/v1
  flowSchema,
  priorityLevelConfiguration,
  // metrics.k8s.io/v1beta1
  nodeMetrics,
  podMetrics,
]

/** Groups and versions in the order in which discovery lists them. */
export const groupVersions: readonly { readonly group: string; readonly version: string }[] = [
  { group: '', version: 'v1' },
  { group: 'apiregistration.k8s.io', version: 'v1' },
  { group: 'apps', version: 'v1' },
  { group: 'events.k8s.io', version: 'v1' },
  { group: 'authentication.k8s.io', version: 'v1' },
  { group: 'authorization.k8s.io', version: 'v1' },
  { group: 'autoscaling', version: 'v2' },
  { group: 'autoscaling', version: 'v1' },
  { group: 'batch', version: 'v1' },
  { group: 'certificates.k8s.io', version: 'v1' },
  { group: 'networking.k8s.io', version: 'v1' },
  { group: 'policy', version: 'v1' },
  { group: 'rbac.authorization.k8s.io', version: 'v1' },
  { group: 'storage.k8s.io', version: 'v1' },
  { group: 'admissionregistration.k8s.io', version: 'v1' },
  { group: 'apiextensions.k8s.io', version: 'v1' },
  { group: 'scheduling.k8s.io', version: 'v1' },
  { group: 'coordination.k8s.io', version: 'v1' },
  { group: 'node.k8s.io', version: 'v1' },
  { group: 'discovery.k8s.io', version: 'v1' },
  { group: 'resource.k8s.io', version: 'v1' },
  { group: 'flowcontrol.apiserver.k8s.io', version: 'v1' },
  { group: 'metrics.k8s.io', version: 'v1beta1' },
]

/** Kinds whose feature gate is off by default. A server that has them serves them besides `kinds`. */
export const gatedKinds: readonly Kind[] = [leaseCandidate]

/** Served by an add-on upstream, so the recorded facts do not contain them. */
export const addOnGroups: readonly string[] = ['metrics.k8s.io']

/** The kinds with their own key prefix in the store; the others are additional versions of them, or computed. */
export const storedKinds: readonly Kind[] = kinds.filter(
  ({ storedAs, computed }) => storedAs === undefined && computed === undefined,
)
