// Every admission plugin, in the order in which they are asked.
import { alwaysPullImages } from './always-pull-images.ts'
import { certificateApproval } from './certificate-approval.ts'
import { certificateSigning } from './certificate-signing.ts'
import { certificateSubjectRestriction } from './certificate-subject-restriction.ts'
import { defaultIngressClass } from './default-ingress-class.ts'
import { defaultStorageClass } from './default-storage-class.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { extendedResourceToleration } from './extended-resource-toleration.ts'
import { limitRanger } from './limit-ranger/limit-ranger.ts'
import type { LimitedResource } from './limited-resources.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { nodeRestriction } from './node-restriction.ts'
import { ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.ts'
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts'
import type { AdmissionPlugin } from './plugin.ts'
import { mutatingPolicies } from './policies/mutating.ts'
import { validatingPolicies } from './policies/validating.ts'
import { openConfiguration, type PodSecurityConfiguration } from './pod-security/configuration.ts'
import { podSecurity } from './pod-security/pod-security.ts'
import { podTopologyLabels } from './pod-topology-labels.ts'
import { priority } from './priority.ts'
import { resourceQuotaAdmission } from './resource-quota.ts'
import { runtimeClassAdmission } from './runtime-class.ts'
import { serviceAccountAdmission } from './service-account.ts'
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'

/** What a cluster may say of its plugins. */
export interface AdmissionSettings {
  /** By name, beside those that are on by default. */
  readonly enabled: readonly string[]
  readonly disabled: readonly string[]
  readonly podSecurity: PodSecurityConfiguration
  readonly limitedResources: readonly LimitedResource[]
}

export const defaultAdmissionSettings: AdmissionSettings = {
  enabled: [],
  disabled: [],
  podSecurity: openConfiguration,
  limitedResources: [],
}

/** Every plugin, in the order of asking; of the webhooks it is told how they are asked. */
export const admissionPlugins = (
  settings: AdmissionSettings = defaultAdmissionSettings,
  webhooks: readonly AdmissionPlugin[] = [],
): readonly AdmissionPlugin[] => [
  namespaceLifecycle,
  limitRanger,
  serviceAccountAdmission,
  nodeRestriction,
  taintNodesByCondition,
  alwaysPullImages,
  podSecurity(settings.podSecurity),
  priority,
  defaultTolerationSeconds,
  extendedResourceToleration,
  defaultStorageClass,
  storageObjectInUseProtection,
  ownerReferencesPermissionEnforcement,
  persistentVolumeClaimResize,
  runtimeClassAdmission,
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  defaultIngressClass,
  podTopologyLabels,
  mutatingPolicies,
  validatingPolicies,
  ...webhooks,
  resourceQuotaAdmission(settings.limitedResources),
]

/** Plugins that change what users see only where a cluster asks for it. */
const optional: readonly string[] = [
  alwaysPullImages.name,
  extendedResourceToleration.name,
  ownerReferencesPermissionEnforcement.name,
]

/** Those that are on. */
export const enabledPlugins = (
  settings: AdmissionSettings,
  webhooks: readonly AdmissionPlugin[] = [],
): readonly AdmissionPlugin[] =>
  admissionPlugins(settings, webhooks).filter(
    ({ name }) => settings.enabled.includes(name) || (!optional.includes(name) && !settings.disabled.includes(name)),
  )

export const defaultAdmissionPlugins: readonly AdmissionPlugin[] = enabledPlugins(defaultAdmissionSettings)
