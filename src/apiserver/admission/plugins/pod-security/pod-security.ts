// PodSecurity: applies the pod security standards that a namespace's labels select to enforce, audit or warn.
import { cronJob, type CronJob } from '../../../../api/batch/v1/cron-job.ts'
import { job } from '../../../../api/batch/v1/job.ts'
import { daemonSet } from '../../../../api/apps/v1/daemon-set.ts'
import { deployment } from '../../../../api/apps/v1/deployment.ts'
import { replicaSet } from '../../../../api/apps/v1/replica-set.ts'
import { statefulSet } from '../../../../api/apps/v1/stateful-set.ts'
import { namespace, type Namespace } from '../../../../api/core/v1/namespace.ts'
import { pod, type Pod } from '../../../../api/core/v1/pod/pod.ts'
import { podTemplate, type PodTemplate } from '../../../../api/core/v1/workload/pod-template.ts'
import type { PodTemplateSpec } from '../../../../api/core/v1/pod-spec/pod-template-spec.ts'
import { replicationController } from '../../../../api/core/v1/workload/replication-controller.ts'
import type { ApiObject } from '../../../../api/meta/object.ts'
import { invalidObject } from '../../../../api/errors/status-error.ts'
import { equalValues } from '../../../../schema/json/json-value.ts'
import {
  admissionForbidden,
  type AdmissionAttributes,
  type AdmissionHost,
  type AdmissionPlugin,
} from '../../framework/admission-plugin.ts'
import { checkedPod, type CheckedPod } from './pod-security-check.ts'
import { privilegedConfiguration, type PodSecurityConfiguration } from './pod-security-configuration.ts'
import { violationsOf, violationText } from './violations.ts'
import {
  labelErrors,
  policyOf,
  policyText,
  versionLabel,
  type Labels,
  type Mode,
  type Policy,
} from './pod-security-level.ts'

const workloads = [
  cronJob,
  daemonSet,
  deployment,
  job,
  podTemplate,
  replicaSet,
  replicationController,
  statefulSet,
] as const

/** Existing pods that are checked when a namespace's level changes; a warning says if there are more. */
const existingPodsMax = 3_000

export const podSecurity = (configuration: PodSecurityConfiguration = privilegedConfiguration): AdmissionPlugin => ({
  name: 'PodSecurity',
  handles: {
    operations: ['create', 'update'],
    kinds: [namespace, pod, ...workloads],
    subresources: ['', 'ephemeralcontainers'],
  },
  validate(attributes, host) {
    const { kind, object, old, subresource } = attributes
    if (kind === namespace) return checkNamespace(attributes, host, configuration)
    const { podSecurity: metrics } = host.metrics
    const request = {
      operation: attributes.operation,
      resource: kind === pod ? 'pod' : 'controller',
      subresource,
    } as const
    if (isExempt(attributes, configuration)) return metrics.exempted(request)
    const { defaults } = configuration
    const evaluated = (mode: Mode, policy: Policy, isAllowed: boolean) => {
      const decision = isAllowed ? 'allow' : 'deny'
      metrics.evaluated({ ...request, decision, mode, level: policy.level, version: versionLabel(policy) })
    }
    const labels = host.get(namespace, '', attributes.namespace)?.metadata.labels
    if (kind !== pod) {
      const template = templateOf(object as ApiObject)
      if (template === undefined) return
      if (isExemptClass(attributes, template.spec, configuration)) return metrics.exempted(request)
      recordViolations(attributes, labels, checkedPod(template.metadata ?? {}, template.spec), defaults, evaluated)
      return
    }
    const { metadata, spec } = object as Pod
    // An existing pod is checked again only if its spec changes: a new image or an ephemeral container.
    if (old !== undefined && equalValues(spec, (old as Pod).spec)) return
    if (isExemptClass(attributes, spec, configuration)) return metrics.exempted(request)
    const checked = checkedPod(metadata, spec)
    enforce(attributes, labels, checked, defaults, evaluated)
    recordViolations(attributes, labels, checked, defaults, evaluated)
  },
})

const exemptAnnotation = 'pod-security.kubernetes.io/exempt'

function isExempt(
  { namespace: name, user, recorder }: AdmissionAttributes,
  { exemptions }: PodSecurityConfiguration,
): boolean {
  const why = exemptions.namespaces.includes(name)
    ? 'namespace'
    : exemptions.usernames.includes(user.name)
      ? 'user'
      : undefined
  if (why !== undefined) recorder.annotate(exemptAnnotation, why)
  return why !== undefined
}

function isExemptClass(
  { recorder }: AdmissionAttributes,
  spec: { readonly runtimeClassName?: string } | undefined,
  { exemptions }: PodSecurityConfiguration,
): boolean {
  const isIt = spec?.runtimeClassName !== undefined && exemptions.runtimeClasses.includes(spec.runtimeClassName)
  if (isIt) recorder.annotate(exemptAnnotation, 'runtimeClass')
  return isIt
}

type Defaults = PodSecurityConfiguration['defaults']

function templateOf(object: ApiObject): PodTemplateSpec | undefined {
  if (object.kind === 'CronJob') return (object as CronJob).spec.jobTemplate.spec?.template
  if (object.kind === 'PodTemplate') return (object as PodTemplate).template
  return (object as ApiObject & { spec: { template?: PodTemplateSpec } }).spec.template
}

type Evaluated = (mode: Mode, policy: Policy, isAllowed: boolean) => void

function enforce(
  attributes: AdmissionAttributes,
  labels: Labels,
  checked: CheckedPod,
  defaults: Defaults,
  evaluated: Evaluated,
): void {
  const policy = policyOf(labels, 'enforce', defaults.enforce)
  const violations = violationsOf(policy, checked)
  evaluated('enforce', policy, violations.length === 0)
  attributes.recorder.annotate('pod-security.kubernetes.io/enforce-policy', policyText(policy))
  if (violations.length > 0)
    throw admissionForbidden(
      attributes,
      `violates PodSecurity ${JSON.stringify(policyText(policy))}: ${violations.map(violationText).join(', ')}`,
    )
}

/** The modes audit and warn. As upstream, only violations count as evaluations. */
function recordViolations(
  { recorder }: AdmissionAttributes,
  labels: Labels,
  checked: CheckedPod,
  defaults: Defaults,
  evaluated: Evaluated,
): void {
  const textOf = (mode: Mode): string | undefined => {
    const policy = policyOf(labels, mode, defaults[mode])
    const violations = violationsOf(policy, checked)
    if (violations.length === 0) return undefined
    evaluated(mode, policy, false)
    return `would violate PodSecurity ${JSON.stringify(policyText(policy))}: ${violations.map(violationText).join(', ')}`
  }
  const audited = textOf('audit')
  const warned = textOf('warn')
  if (audited !== undefined) recorder.annotate('pod-security.kubernetes.io/audit-violations', audited)
  if (warned !== undefined) recorder.warn(warned)
}

function checkNamespace(
  attributes: AdmissionAttributes,
  host: AdmissionHost,
  { defaults: { enforce: fallback }, exemptions }: PodSecurityConfiguration,
): void {
  const { metadata } = attributes.object as Namespace
  const before = attributes.old?.metadata.labels
  const errors = labelErrors(metadata.labels)
  if (errors.length > 0 && (attributes.old === undefined || !equalValues(labelErrors(before), errors)))
    throw invalidObject('', namespace.kind, metadata.name, errors)
  if (attributes.old === undefined || exemptions.namespaces.includes(metadata.name)) return
  const [policy, earlier] = [metadata.labels, before].map((labels) => policyOf(labels, 'enforce', fallback)) as [
    Policy,
    Policy,
  ]
  if (policy.level === 'privileged' || equalValues(policy, earlier)) return
  const pods = host.list(pod, metadata.name)
  const names = new Map<string, string[]>()
  for (const { metadata: meta, spec } of pods.slice(0, existingPodsMax)) {
    const violations = violationsOf(policy, checkedPod(meta, spec))
    if (violations.length === 0) continue
    const reasons = violations.map(({ reason }) => reason).join(', ')
    names.set(reasons, [...(names.get(reasons) ?? []), meta.name])
  }
  if (names.size === 0) return
  const { recorder } = attributes
  recorder.warn(
    `existing pods in namespace ${JSON.stringify(metadata.name)} violate the new PodSecurity enforce level ${JSON.stringify(policyText(policy))}`,
  )
  if (pods.length > existingPodsMax)
    recorder.warn(
      `new PodSecurity enforce level only checked against the first ${existingPodsMax} of ${pods.length} existing pods`,
    )
  const lines = [...names].map(([reasons, [first, ...others]]) => `${first}${otherPods(others.length)}: ${reasons}`)
  for (const line of lines.toSorted()) recorder.warn(line)
}

function otherPods(count: number): string {
  if (count === 0) return ''
  return count === 1 ? ' (and 1 other pod)' : ` (and ${count} other pods)`
}
