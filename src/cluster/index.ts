// The public API of the package `coxswain`: the cluster for tests, connections to other clusters, and every kind for
// their typed client.
export { startCluster, type StartClusterOptions } from './testing/start-cluster.ts'
export {
  clusterMatchers,
  type ClusterMatchers,
  type MatcherOptions,
  type MatcherResult,
  type MatcherState,
} from './testing/cluster-matchers.ts'
export { reportOnFailure, withCluster, type NodeTestContext, type VitestContext } from './testing/report-on-failure.ts'
export { TestCluster, type ClusterSnapshot, type ReadyOptions, type Until } from './testing/test-cluster.ts'
export { connect, type Connection, type ConnectOptions } from './client/connect.ts'
export {
  runController,
  watched,
  type CachedObjects,
  type ControllerElection,
  type ControllerOptions,
  type ObjectName,
  type ReconcileRequest,
  type Requeue,
  type WatchedKind,
} from './client/run-controller.ts'
export type { Clock } from '../base/time/clock.ts'
export { KubeconfigError } from '../client/transport/kubeconfig-access.ts'
export type { Manifest } from './manifests/manifest.ts'
export type { ManifestSource } from './testing/manifest-source.ts'
export type { DefinitionSource } from './testing/read-definitions.ts'
export type { LogOptions } from '../client/pod-log.ts'
export type { ContainerOptions, ExecOutput } from './testing/pod-access.ts'
export type { Faults, RequestRejection as Refusal, RequestFilter, WatchFault } from './testing/faults.ts'
export type { Link, LossyLink, SlowLink } from './testing/network-faults.ts'
export type { FromOptions, TestFetchInit, TestNetwork } from './testing/test-network.ts'
export type { RemovableFault } from '../machine/network/link-faults.ts'
export type { SimulatedStorageOptions, StorageControl } from '../machine/csi/simulated/simulated-csi-driver.ts'
export type { CloudControl, SimulatedCloudOptions, SimulatedLoadBalancer } from '../cloud/simulated/simulated-cloud.ts'
export type { CloudFault, CloudOperation } from '../cloud/simulated/cloud-faults.ts'
export type { CloudInstance, CloudRoute } from '../cloud/provider/cloud-provider.ts'
export { NetworkError } from '../machine/network/network-error.ts'
export type { SimulatedHttpHandler, SimulatedRequest, SimulatedResponse } from '../machine/network/serve-http.ts'
export type { FetchInit, FetchResponse } from '../machine/network/simulated-fetch.ts'
export { FileError } from '../machine/disk/file-error.ts'
export type { ContainerFiles } from '../machine/runtime/container-files.ts'
export type { ByteStream } from '../platform/http/byte-stream.ts'
export type {
  SimulatedCommand,
  SimulatedProcess,
  SimulatedProgram,
  SimulatedResult,
  SimulatedRuntimeOptions,
} from '../machine/runtime/simulated-runtime.ts'
export { StatusError } from '../api/errors/status-error.ts'
export { context, type Context } from '../base/observability/context.ts'
export type { ResourceType as Kind } from '../api/kind/kind.ts'
export type { ApiObject } from '../api/meta/object.ts'
export {
  customResource,
  type CustomResourceNames,
  type CustomResourceType as CustomKind,
  type KindInput,
  type KindObject,
} from '../api/apiextensions/resource-type/custom-resource.ts'
export type {
  ApplyOptions,
  Client,
  DeleteCallOptions,
  ListOptions,
  ResourceClient,
  TypedEvent,
  TypedPage,
} from '../client/client.ts'
export type { Mutable } from '../client/mutable.ts'
export {
  mutatingAdmissionPolicyBinding,
  type MutatingAdmissionPolicyBinding,
  type MutatingAdmissionPolicyBindingInput,
} from '../api/admissionregistration/v1/mutating-admission-policy-binding.ts'
export {
  mutatingAdmissionPolicy,
  type MutatingAdmissionPolicy,
  type MutatingAdmissionPolicyInput,
} from '../api/admissionregistration/v1/mutating-admission-policy.ts'
export {
  mutatingWebhookConfiguration,
  type MutatingWebhookConfiguration,
  type MutatingWebhookConfigurationInput,
} from '../api/admissionregistration/v1/mutating-webhook-configuration.ts'
export {
  validatingAdmissionPolicyBinding,
  type ValidatingAdmissionPolicyBinding,
  type ValidatingAdmissionPolicyBindingInput,
} from '../api/admissionregistration/v1/validating-admission-policy-binding.ts'
export {
  validatingAdmissionPolicy,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyInput,
} from '../api/admissionregistration/v1/validating-admission-policy.ts'
export {
  validatingWebhookConfiguration,
  type ValidatingWebhookConfiguration,
  type ValidatingWebhookConfigurationInput,
} from '../api/admissionregistration/v1/validating-webhook-configuration.ts'
export {
  customResourceDefinition,
  type CustomResourceDefinition,
  type CustomResourceDefinitionInput,
} from '../api/apiextensions/v1/custom-resource-definition.ts'
export { apiService, type APIService, type APIServiceInput } from '../api/apiregistration/v1/api-service.ts'
export {
  controllerRevision,
  type ControllerRevision,
  type ControllerRevisionInput,
} from '../api/apps/v1/controller-revision.ts'
export { daemonSet, type DaemonSet, type DaemonSetInput } from '../api/apps/v1/daemon-set.ts'
export { deployment, type Deployment, type DeploymentInput } from '../api/apps/v1/deployment.ts'
export { replicaSet, type ReplicaSet, type ReplicaSetInput } from '../api/apps/v1/replica-set.ts'
export { statefulSet, type StatefulSet, type StatefulSetInput } from '../api/apps/v1/stateful-set.ts'
export {
  selfSubjectReview,
  type SelfSubjectReview,
  type SelfSubjectReviewInput,
} from '../api/authentication/v1/self-subject-review.ts'
export { tokenReview, type TokenReview, type TokenReviewInput } from '../api/authentication/v1/token-review.ts'
export {
  localSubjectAccessReview,
  type LocalSubjectAccessReview,
  type LocalSubjectAccessReviewInput,
} from '../api/authorization/v1/local-subject-access-review.ts'
export {
  selfSubjectAccessReview,
  type SelfSubjectAccessReview,
  type SelfSubjectAccessReviewInput,
} from '../api/authorization/v1/self-subject-access-review.ts'
export {
  selfSubjectRulesReview,
  type SelfSubjectRulesReview,
  type SelfSubjectRulesReviewInput,
} from '../api/authorization/v1/self-subject-rules-review.ts'
export {
  subjectAccessReview,
  type SubjectAccessReview,
  type SubjectAccessReviewInput,
} from '../api/authorization/v1/subject-access-review.ts'
export {
  horizontalPodAutoscalerV1,
  type HorizontalPodAutoscaler as HorizontalPodAutoscalerV1,
  type HorizontalPodAutoscalerInput as HorizontalPodAutoscalerV1Input,
} from '../api/autoscaling/v1/horizontal-pod-autoscaler.ts'
export {
  horizontalPodAutoscaler,
  type HorizontalPodAutoscaler,
  type HorizontalPodAutoscalerInput,
} from '../api/autoscaling/v2/horizontal-pod-autoscaler.ts'
export { cronJob, type CronJob, type CronJobInput } from '../api/batch/v1/cron-job.ts'
export { job, type Job, type JobInput } from '../api/batch/v1/job.ts'
export {
  certificateSigningRequest,
  type CertificateSigningRequest,
  type CertificateSigningRequestInput,
} from '../api/certificates/v1/certificate-signing-request.ts'
export { lease, type Lease, type LeaseInput } from '../api/coordination/v1/lease.ts'
export { binding, type Binding, type BindingInput } from '../api/core/v1/binding.ts'
export { componentStatus, type ComponentStatus, type ComponentStatusInput } from '../api/core/v1/component-status.ts'
export { configMap, type ConfigMap, type ConfigMapInput } from '../api/core/v1/config-map.ts'
export { event, type Event, type EventInput } from '../api/core/v1/event.ts'
export { namespace, type Namespace, type NamespaceInput } from '../api/core/v1/namespace.ts'
export { node, type Node, type NodeInput } from '../api/core/v1/node/node.ts'
export { pod, type Pod, type PodInput } from '../api/core/v1/pod/pod.ts'
export { limitRange, type LimitRange, type LimitRangeInput } from '../api/core/v1/quota/limit-range.ts'
export { resourceQuota, type ResourceQuota, type ResourceQuotaInput } from '../api/core/v1/quota/resource-quota.ts'
export { secret, type Secret, type SecretInput } from '../api/core/v1/secret.ts'
export { serviceAccount, type ServiceAccount, type ServiceAccountInput } from '../api/core/v1/service-account.ts'
export { endpoints, type Endpoints, type EndpointsInput } from '../api/core/v1/service/endpoints.ts'
export { service, type Service, type ServiceInput } from '../api/core/v1/service/service.ts'
export {
  persistentVolumeClaim,
  type PersistentVolumeClaim,
  type PersistentVolumeClaimInput,
} from '../api/core/v1/volume/persistent-volume-claim.ts'
export {
  persistentVolume,
  type PersistentVolume,
  type PersistentVolumeInput,
} from '../api/core/v1/volume/persistent-volume.ts'
export { podTemplate, type PodTemplate, type PodTemplateInput } from '../api/core/v1/workload/pod-template.ts'
export {
  replicationController,
  type ReplicationController,
  type ReplicationControllerInput,
} from '../api/core/v1/workload/replication-controller.ts'
export { endpointSlice, type EndpointSlice, type EndpointSliceInput } from '../api/discovery/v1/endpoint-slice.ts'
export { eventsEvent, type Event as EventsEvent, type EventInput as EventsEventInput } from '../api/events/v1/event.ts'
export { flowSchema, type FlowSchema, type FlowSchemaInput } from '../api/flowcontrol/v1/flow-schema.ts'
export {
  priorityLevelConfiguration,
  type PriorityLevelConfiguration,
  type PriorityLevelConfigurationInput,
} from '../api/flowcontrol/v1/priority-level-configuration.ts'
export { nodeMetrics, type NodeMetrics, type NodeMetricsInput } from '../api/metrics/v1beta1/node-metrics.ts'
export { podMetrics, type PodMetrics, type PodMetricsInput } from '../api/metrics/v1beta1/pod-metrics.ts'
export { ingressClass, type IngressClass, type IngressClassInput } from '../api/networking/v1/ingress-class.ts'
export { ingress, type Ingress, type IngressInput } from '../api/networking/v1/ingress.ts'
export { ipAddress, type IPAddress, type IPAddressInput } from '../api/networking/v1/ip-address.ts'
export { networkPolicy, type NetworkPolicy, type NetworkPolicyInput } from '../api/networking/v1/network-policy.ts'
export { serviceCidr, type ServiceCIDR, type ServiceCIDRInput } from '../api/networking/v1/service-cidr.ts'
export { runtimeClass, type RuntimeClass, type RuntimeClassInput } from '../api/node/v1/runtime-class.ts'
export {
  podDisruptionBudget,
  type PodDisruptionBudget,
  type PodDisruptionBudgetInput,
} from '../api/policy/v1/pod-disruption-budget.ts'
export {
  clusterRoleBinding,
  type ClusterRoleBinding,
  type ClusterRoleBindingInput,
} from '../api/rbac/v1/cluster-role-binding.ts'
export { clusterRole, type ClusterRole, type ClusterRoleInput } from '../api/rbac/v1/cluster-role.ts'
export { roleBinding, type RoleBinding, type RoleBindingInput } from '../api/rbac/v1/role-binding.ts'
export { role, type Role, type RoleInput } from '../api/rbac/v1/role.ts'
export { deviceClass, type DeviceClass, type DeviceClassInput } from '../api/resource/v1/device-class.ts'
export {
  resourceClaimTemplate,
  type ResourceClaimTemplate,
  type ResourceClaimTemplateInput,
} from '../api/resource/v1/resource-claim-template.ts'
export { resourceClaim, type ResourceClaim, type ResourceClaimInput } from '../api/resource/v1/resource-claim.ts'
export { resourceSlice, type ResourceSlice, type ResourceSliceInput } from '../api/resource/v1/resource-slice.ts'
export { priorityClass, type PriorityClass, type PriorityClassInput } from '../api/scheduling/v1/priority-class.ts'
export { csiDriver, type CSIDriver, type CSIDriverInput } from '../api/storage/v1/csi-driver.ts'
export { csiNode, type CSINode, type CSINodeInput } from '../api/storage/v1/csi-node.ts'
export {
  csiStorageCapacity,
  type CSIStorageCapacity,
  type CSIStorageCapacityInput,
} from '../api/storage/v1/csi-storage-capacity.ts'
export { storageClass, type StorageClass, type StorageClassInput } from '../api/storage/v1/storage-class.ts'
export {
  volumeAttachment,
  type VolumeAttachment,
  type VolumeAttachmentInput,
} from '../api/storage/v1/volume-attachment.ts'
export {
  volumeAttributesClass,
  type VolumeAttributesClass,
  type VolumeAttributesClassInput,
} from '../api/storage/v1/volume-attributes-class.ts'
