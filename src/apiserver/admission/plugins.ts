// Every admission plugin, in the order in which they run.
import { alwaysPullImages } from './plugins/always-pull-images.ts'
import { certificateApproval } from './plugins/certificate-approval.ts'
import { certificateSigning } from './plugins/certificate-signing.ts'
import { certificateSubjectRestriction } from './plugins/certificate-subject-restriction.ts'
import { defaultIngressClass } from './plugins/default-ingress-class.ts'
import { defaultStorageClass } from './plugins/default-storage-class.ts'
import {
  defaultTolerationSeconds,
  tolerationSecondsDefault,
  type TolerationSeconds,
} from './plugins/default-toleration-seconds.ts'
import { extendedResourceToleration } from './plugins/extended-resource-toleration.ts'
import { limitRanger } from './plugins/limit-ranger/limit-ranger.ts'
import type { LimitedResource } from './plugins/resource-quota/limited-resources.ts'
import { namespaceLifecycle } from './plugins/namespace-lifecycle.ts'
import { nodeRestriction } from './plugins/node-restriction/node-restriction.ts'
import { ownerReferencesPermissionEnforcement } from './plugins/owner-references-permission-enforcement.ts'
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.ts'
import type { AdmissionPlugin } from './framework/admission-plugin.ts'
import { mutatingAdmissionPolicies } from './plugins/policies/mutating-policies.ts'
import { validatingAdmissionPolicies } from './plugins/policies/validating-policies.ts'
import {
  privilegedConfiguration,
  type PodSecurityConfiguration,
} from './plugins/pod-security/pod-security-configuration.ts'
import { podSecurity } from './plugins/pod-security/pod-security.ts'
import { podTopologyLabels } from './plugins/pod-topology-labels.ts'
import { priority } from './plugins/priority.ts'
import { resourceQuotaAdmission } from './plugins/resource-quota/resource-quota.ts'
import { runtimeClassAdmission } from './plugins/runtime-class.ts'
import { serviceAccountAdmission } from './plugins/service-account.ts'
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.ts'

/** The configuration of the plugins. */
export interface AdmissionSettings {
  /** By name, in addition to those that are on by default. */
  readonly enabled: readonly string[]
  readonly disabled: readonly string[]
  readonly podSecurity: PodSecurityConfiguration
  readonly limitedResources: readonly LimitedResource[]
  readonly tolerationSeconds: TolerationSeconds
}

export const defaultAdmissionSettings: AdmissionSettings = {
  enabled: [],
  disabled: [],
  podSecurity: privilegedConfiguration,
  limitedResources: [],
  tolerationSeconds: tolerationSecondsDefault,
}

/** Every plugin in the order in which they run. The webhook plugins are passed in, because they need connections. */
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
  defaultTolerationSeconds(settings.tolerationSeconds),
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
  mutatingAdmissionPolicies,
  validatingAdmissionPolicies,
  ...webhooks,
  resourceQuotaAdmission(settings.limitedResources),
]

/** Plugins that are off by default. */
const optional: readonly string[] = [
  alwaysPullImages.name,
  extendedResourceToleration.name,
  ownerReferencesPermissionEnforcement.name,
]

/** The plugins that are on. */
export const enabledPlugins = (
  settings: AdmissionSettings,
  webhooks: readonly AdmissionPlugin[] = [],
): readonly AdmissionPlugin[] =>
  admissionPlugins(settings, webhooks).filter(
    ({ name }) => settings.enabled.includes(name) || (!optional.includes(name) && !settings.disabled.includes(name)),
  )

export const defaultAdmissionPlugins: readonly AdmissionPlugin[] = enabledPlugins(defaultAdmissionSettings)
