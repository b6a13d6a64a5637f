// go-names: Go's names in errors of its decoder: embedded structs, and strings with a named type.
// The schema does not contain these names; each is a fact about upstream's types.
import { lookup } from '../../base/collections/lookup.ts'
import type { Field } from '../descriptor/field.ts'

const localObjectReference = ['LocalObjectReference']
const deviceConfiguration = ['DeviceConfiguration']

/** Go structs that are embedded in others: they have no name in JSON, but one in errors. */
const embeddedStructs: Readonly<Record<string, readonly string[]>> = {
  ConfigMapEnvSource: localObjectReference,
  ConfigMapKeySelector: localObjectReference,
  ConfigMapProjection: localObjectReference,
  ConfigMapVolumeSource: localObjectReference,
  DeviceAllocationConfiguration: deviceConfiguration,
  DeviceClaimConfiguration: deviceConfiguration,
  DeviceClassConfiguration: deviceConfiguration,
  EphemeralContainer: ['EphemeralContainerCommon'],
  IngressRule: ['IngressRuleValue'],
  NamedRuleWithOperations: ['RuleWithOperations', 'Rule'],
  PersistentVolumeSpec: ['PersistentVolumeSource'],
  Probe: ['ProbeHandler'],
  RuleWithOperations: ['Rule'],
  SecretEnvSource: localObjectReference,
  SecretKeySelector: localObjectReference,
  SecretProjection: localObjectReference,
  Volume: ['VolumeSource'],
}

/** Fields whose string, or whose elements' string, has a named type, by the name of that type; in v1 unless stated. */
const namedTexts: Readonly<Record<string, readonly string[]>> = {
  AddressType: ['EndpointSlice.addressType'],
  AllocationConfigSource: ['DeviceAllocationConfiguration.source'],
  AppArmorProfileType: ['AppArmorProfile.type'],
  AzureDataDiskCachingMode: ['AzureDiskVolumeSource.cachingMode'],
  AzureDataDiskKind: ['AzureDiskVolumeSource.kind'],
  Capability: ['Capabilities.add', 'Capabilities.drop'],
  ClaimResourceStatus: ['PersistentVolumeClaimStatus.allocatedResourceStatuses'],
  CompletionMode: ['JobSpec.completionMode'],
  ComponentConditionType: ['ComponentCondition.type'],
  ConcurrencyPolicy: ['CronJobSpec.concurrencyPolicy'],
  ConditionStatus: [
    'APIServiceCondition.status',
    'CertificateSigningRequestCondition.status',
    'ComponentCondition.status',
    'Condition.status',
    'CustomResourceDefinitionCondition.status',
    'DaemonSetCondition.status',
    'DeploymentCondition.status',
    'FlowSchemaCondition.status',
    'HorizontalPodAutoscalerCondition.status',
    'JobCondition.status',
    'NamespaceCondition.status',
    'NodeCondition.status',
    'PersistentVolumeClaimCondition.status',
    'PodCondition.status',
    'PodFailurePolicyOnPodConditionsPattern.status',
    'PriorityLevelConfigurationCondition.status',
    'ReplicaSetCondition.status',
    'ReplicationControllerCondition.status',
    'StatefulSetCondition.status',
  ],
  ContainerRestartPolicy: ['Container.restartPolicy', 'EphemeralContainer.restartPolicy'],
  ContainerRestartRuleAction: ['ContainerRestartRule.action'],
  ContainerRestartRuleOnExitCodesOperator: ['ContainerRestartRuleOnExitCodes.operator'],
  ConversionStrategyType: ['CustomResourceConversion.strategy'],
  CoordinatedLeaseStrategy: ['LeaseSpec.strategy'],
  CustomResourceDefinitionConditionType: ['CustomResourceDefinitionCondition.type'],
  DNSPolicy: ['PodSpec.dnsPolicy'],
  DaemonSetConditionType: ['DaemonSetCondition.type'],
  DaemonSetUpdateStrategyType: ['DaemonSetUpdateStrategy.type'],
  DeploymentConditionType: ['DeploymentCondition.type'],
  DeploymentStrategyType: ['DeploymentStrategy.type'],
  DeviceAllocationMode: ['DeviceSubRequest.allocationMode', 'ExactDeviceRequest.allocationMode'],
  DeviceTaintEffect: ['DeviceTaint.effect', 'DeviceToleration.effect'],
  DeviceTolerationOperator: ['DeviceToleration.operator'],
  FSGroupPolicy: ['CSIDriverSpec.fsGroupPolicy'],
  FailurePolicyType: [
    'MutatingAdmissionPolicySpec.failurePolicy',
    'MutatingWebhook.failurePolicy',
    'ValidatingAdmissionPolicySpec.failurePolicy',
    'ValidatingWebhook.failurePolicy',
  ],
  FieldValueErrorReason: ['ValidationRule.reason'],
  FinalizerName: ['NamespaceSpec.finalizers'],
  FlowDistinguisherMethodType: ['FlowDistinguisherMethod.type'],
  FlowSchemaConditionType: ['FlowSchemaCondition.type'],
  FullyQualifiedName: ['DeviceConstraint.distinctAttribute', 'DeviceConstraint.matchAttribute'],
  HostPathType: ['HostPathVolumeSource.type'],
  IPFamily: ['ServiceSpec.ipFamilies'],
  IPFamilyPolicy: ['ServiceSpec.ipFamilyPolicy'],
  JobConditionType: ['JobCondition.type'],
  JSONSchemaURL: ['JSONSchemaProps.$schema'],
  KeyUsage: ['CertificateSigningRequestSpec.usages'],
  LabelSelectorOperator: ['LabelSelectorRequirement.operator'],
  LimitResponseType: ['LimitResponse.type'],
  LimitType: ['LimitRangeItem.type'],
  LoadBalancerIPMode: ['LoadBalancerIngress.ipMode'],
  ManagedFieldsOperationType: ['ManagedFieldsEntry.operation'],
  MatchPolicyType: ['MatchResources.matchPolicy', 'MutatingWebhook.matchPolicy', 'ValidatingWebhook.matchPolicy'],
  MountPropagationMode: ['VolumeMount.mountPropagation'],
  NamespaceConditionType: ['NamespaceCondition.type'],
  NamespacePhase: ['NamespaceStatus.phase'],
  NodeAddressType: ['NodeAddress.type'],
  NodeConditionType: ['NodeCondition.type'],
  NodeInclusionPolicy: ['TopologySpreadConstraint.nodeAffinityPolicy', 'TopologySpreadConstraint.nodeTaintsPolicy'],
  NodePhase: ['NodeStatus.phase'],
  NodeSelectorOperator: ['NodeSelectorRequirement.operator'],
  OSName: ['PodOS.name'],
  OperationType: ['NamedRuleWithOperations.operations', 'RuleWithOperations.operations'],
  ParameterNotFoundActionType: ['ParamRef.parameterNotFoundAction'],
  PathType: ['HTTPIngressPath.pathType'],
  PersistentVolumeAccessMode: [
    'PersistentVolumeClaimSpec.accessModes',
    'PersistentVolumeClaimStatus.accessModes',
    'PersistentVolumeSpec.accessModes',
  ],
  PersistentVolumeClaimConditionType: ['PersistentVolumeClaimCondition.type'],
  PersistentVolumeClaimPhase: ['PersistentVolumeClaimStatus.phase'],
  PersistentVolumeClaimRetentionPolicyType: [
    'StatefulSetPersistentVolumeClaimRetentionPolicy.whenDeleted',
    'StatefulSetPersistentVolumeClaimRetentionPolicy.whenScaled',
  ],
  PersistentVolumeMode: ['PersistentVolumeClaimSpec.volumeMode', 'PersistentVolumeSpec.volumeMode'],
  PersistentVolumePhase: ['PersistentVolumeStatus.phase'],
  PersistentVolumeReclaimPolicy: ['PersistentVolumeSpec.persistentVolumeReclaimPolicy', 'StorageClass.reclaimPolicy'],
  PodConditionType: [
    'PodCondition.type',
    'PodFailurePolicyOnPodConditionsPattern.type',
    'PodReadinessGate.conditionType',
  ],
  PodFSGroupChangePolicy: ['PodSecurityContext.fsGroupChangePolicy'],
  PodFailurePolicyAction: ['PodFailurePolicyRule.action'],
  PodFailurePolicyOnExitCodesOperator: ['PodFailurePolicyOnExitCodesRequirement.operator'],
  PodManagementPolicyType: ['StatefulSetSpec.podManagementPolicy'],
  PodPhase: ['PodStatus.phase'],
  PodQOSClass: ['PodStatus.qosClass'],
  PodReplacementPolicy: ['JobSpec.podReplacementPolicy'],
  PodResizeStatus: ['PodStatus.resize'],
  PodSELinuxChangePolicy: ['PodSecurityContext.seLinuxChangePolicy'],
  PolicyType: ['NetworkPolicySpec.policyTypes'],
  PreemptionPolicy: ['PodSpec.preemptionPolicy', 'PriorityClass.preemptionPolicy'],
  PriorityLevelConfigurationConditionType: ['PriorityLevelConfigurationCondition.type'],
  PriorityLevelEnablement: ['PriorityLevelConfigurationSpec.type'],
  ProcMountType: ['SecurityContext.procMount'],
  Protocol: [
    'ContainerPort.protocol',
    'EndpointPort.protocol',
    'NetworkPolicyPort.protocol',
    'PortStatus.protocol',
    'ServicePort.protocol',
  ],
  PullPolicy: ['Container.imagePullPolicy', 'EphemeralContainer.imagePullPolicy', 'ImageVolumeSource.pullPolicy'],
  RecursiveReadOnlyMode: ['VolumeMount.recursiveReadOnly'],
  ReinvocationPolicyType: ['MutatingAdmissionPolicySpec.reinvocationPolicy', 'MutatingWebhook.reinvocationPolicy'],
  ReplicaSetConditionType: ['ReplicaSetCondition.type'],
  ReplicationControllerConditionType: ['ReplicationControllerCondition.type'],
  RequestConditionType: ['CertificateSigningRequestCondition.type'],
  ResourceName: [
    'ContainerResizePolicy.resourceName',
    'ContainerResourceMetricSource.name',
    'ContainerResourceMetricStatus.name',
    'ResourceMetricSource.name',
    'ResourceMetricStatus.name',
  ],
  ResourceQuotaScope: ['ResourceQuotaSpec.scopes', 'ScopedResourceSelectorRequirement.scopeName'],
  ResourceResizeRestartPolicy: ['ContainerResizePolicy.restartPolicy'],
  ResourceScope: ['CustomResourceDefinitionSpec.scope'],
  RestartPolicy: ['PodSpec.restartPolicy'],
  ScopeSelectorOperator: ['ScopedResourceSelectorRequirement.operator'],
  ScopeType: ['NamedRuleWithOperations.scope', 'RuleWithOperations.scope'],
  SeccompProfileType: ['SeccompProfile.type'],
  SecretType: ['Secret.type'],
  ServiceAffinity: ['ServiceSpec.sessionAffinity'],
  ServiceExternalTrafficPolicy: ['ServiceSpec.externalTrafficPolicy'],
  ServiceInternalTrafficPolicy: ['ServiceSpec.internalTrafficPolicy'],
  ServiceType: ['ServiceSpec.type'],
  SideEffectClass: ['MutatingWebhook.sideEffects', 'ValidatingWebhook.sideEffects'],
  Signal: ['ContainerStatus.stopSignal', 'Lifecycle.stopSignal'],
  StatefulSetConditionType: ['StatefulSetCondition.type'],
  StatefulSetUpdateStrategyType: ['StatefulSetUpdateStrategy.type'],
  StatusReason: ['Validation.reason'],
  StorageMedium: ['EmptyDirVolumeSource.medium'],
  SupplementalGroupsPolicy: ['PodSecurityContext.supplementalGroupsPolicy'],
  TaintEffect: ['Taint.effect', 'Toleration.effect'],
  TerminationMessagePolicy: ['Container.terminationMessagePolicy', 'EphemeralContainer.terminationMessagePolicy'],
  TolerationOperator: ['Toleration.operator'],
  URIScheme: ['HTTPGetAction.scheme'],
  UnhealthyPodEvictionPolicyType: ['PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy'],
  UniqueVolumeName: ['AttachedVolume.name', 'NodeStatus.volumesInUse'],
  UnsatisfiableConstraintAction: ['TopologySpreadConstraint.whenUnsatisfiable'],
  ValidationAction: ['ValidatingAdmissionPolicyBindingSpec.validationActions'],
  VolumeBindingMode: ['StorageClass.volumeBindingMode'],
  VolumeLifecycleMode: ['CSIDriverSpec.volumeLifecycleModes'],
  'types.UID': ['ObjectMeta.uid', 'ObjectReference.uid', 'OwnerReference.uid', 'Preconditions.uid'],
  'v2.HPAScalingPolicyType': ['HPAScalingPolicy.type'],
  'v2.HorizontalPodAutoscalerConditionType': ['HorizontalPodAutoscalerCondition.type'],
  'v2.MetricSourceType': ['MetricSpec.type', 'MetricStatus.type'],
  'v2.MetricTargetType': ['MetricTarget.type'],
  'v2.ScalingPolicySelect': ['HPAScalingRules.selectPolicy'],
}

const textTypes: ReadonlyMap<string, string> = new Map(
  Object.entries(namedTexts).flatMap(([name, fields]) =>
    fields.map((field) => [field, name.includes('.') ? name : `v1.${name}`]),
  ),
)

/** Lists with a named type. */
const listTypes: Readonly<Record<string, string>> = {
  'JSONSchemaProps.x-kubernetes-validations': 'v1.ValidationRules',
}

export const structName = (messageName: string): string => messageName.slice(messageName.lastIndexOf('.') + 1)

/** The name of a field in errors: with the embedded structs before it. */
export function goFieldName(messageName: string, name: string, { embeddedAt: inside }: Field): string {
  const structs = lookup(embeddedStructs, structName(messageName)) ?? []
  return [...structs.slice(0, [inside ?? []].flat().length), name].join('.')
}

/** The type of a field's string, or of the strings in it. */
export const goTextType = (messageName: string, name: string): string =>
  textTypes.get(`${structName(messageName)}.${name}`) ?? 'string'

export const goListType = (messageName: string, name: string): string | undefined =>
  listTypes[`${structName(messageName)}.${name}`]
