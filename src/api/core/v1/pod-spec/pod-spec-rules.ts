// Rules of a PodSpec in pods and templates: defaults that depend on other fields, and validation.
import { duplicate, forbidden, invalid, required, type FieldError } from '../../../../schema/validation/field-error.ts'
import { validateLabels } from '../../../validation/metadata-rules.ts'
import { dnsLabelErrors, dnsSubdomainErrors, qualifiedNameErrors } from '../../../validation/names.ts'
import { validateAffinity } from '../scheduling/affinity-rules.ts'
import { validateContainers } from './container-rules.ts'
import { imagePullPolicyOf } from '../container/image-pull-policy.ts'
import { validateDns, validateHostAliases, validateHostNames } from './pod-network-rules.ts'
import { validateOs } from './pod-os-rules.ts'
import type { PodReadinessGate, PodResourceClaim, PodSchedulingGate, PodSpec } from './pod-spec.ts'
import { validateAmounts, validateResources } from '../resources/resource-rules.ts'
import { validatePodSecurity } from './security-context-rules.ts'
import { validateSpread } from '../scheduling/spread-rules.ts'
import { validateTolerations } from '../scheduling/toleration-rules.ts'
import { checkVolumes, withVolumeDefaults } from '../volume/volume-rules.ts'

export const withPodSpecDefaults = (spec: PodSpec): PodSpec => ({
  ...spec,
  containers: (spec.containers ?? []).map(withPullPolicy),
  ...(spec.initContainers && { initContainers: spec.initContainers.map(withPullPolicy) }),
  ...(spec.ephemeralContainers && { ephemeralContainers: spec.ephemeralContainers.map(withPullPolicy) }),
  ...(spec.volumes && { volumes: spec.volumes.map(withVolumeDefaults) }),
  ...accountNames(spec),
})

interface Pulled {
  readonly image?: string
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never'
}

const withPullPolicy = <C extends Pulled>(container: C): C =>
  container.imagePullPolicy === undefined
    ? { ...container, imagePullPolicy: imagePullPolicyOf(container.image ?? '') }
    : container

/** The service account under its current and its former field name. */
function accountNames({ serviceAccountName, serviceAccount }: PodSpec): Partial<PodSpec> {
  const name = serviceAccountName ?? serviceAccount
  return name === undefined ? {} : { serviceAccountName: name, serviceAccount: name }
}

export function validatePodSpec(spec: PodSpec, path: string): FieldError[] {
  const { errors: volumeErrors, good: volumes } = checkVolumes(spec.volumes ?? [], `${path}.volumes`)
  const claims = new Set((spec.resourceClaims ?? []).map(({ name }) => name))
  return [
    ...volumeErrors,
    ...validateResourceClaims(spec.resourceClaims ?? [], `${path}.resourceClaims`),
    ...validateContainers({ spec, volumes, claims }, path),
    ...validatePodResources(spec, `${path}.resources`),
    ...validateHostNetworkPorts(spec, path),
    ...validateLabels(spec.nodeSelector ?? {}, `${path}.nodeSelector`),
    ...validatePodSecurity(spec, path),
    ...(spec.affinity === undefined ? [] : validateAffinity(spec.affinity, `${path}.affinity`)),
    ...validateDns(spec, `${path}.dnsConfig`),
    ...validateGates(spec, path),
    ...validateSpread(spec.topologySpreadConstraints ?? [], `${path}.topologySpreadConstraints`),
    ...validateNames(spec, path),
    ...validateDeadline(spec.activeDeadlineSeconds, `${path}.activeDeadlineSeconds`),
    ...validateHostNames(spec, path),
    ...validateTolerations(spec.tolerations ?? [], `${path}.tolerations`),
    ...validateHostAliases(spec.hostAliases ?? [], `${path}.hostAliases`),
    ...validateAmounts(spec.overhead ?? {}, `${path}.overhead.limits`),
    ...validateOs(spec, path),
  ]
}

const validateNames = (spec: PodSpec, path: string): FieldError[] =>
  (['serviceAccountName', 'nodeName', 'priorityClassName', 'runtimeClassName'] as const).flatMap((field) => {
    const name = spec[field]
    if (name === undefined) return []
    return dnsSubdomainErrors(name).map((detail) => invalid(`${path}.${field}`, name, detail))
  })

const deadlineSecondsMax = 2_147_483_647

const validateDeadline = (seconds: number | undefined, path: string): FieldError[] =>
  seconds !== undefined && (seconds < 1 || seconds > deadlineSecondsMax)
    ? [invalid(path, seconds, `must be between 1 and ${deadlineSecondsMax}, inclusive`)]
    : []

const validateGates = ({ readinessGates = [], schedulingGates = [] }: PodSpec, path: string): FieldError[] => [
  ...readinessGates.flatMap(({ conditionType = '' }: Partial<PodReadinessGate>, index) =>
    qualifiedNameErrors(conditionType).map((detail) =>
      invalid(`${path}.readinessGates[${index}].conditionType`, conditionType, detail),
    ),
  ),
  ...validateSchedulingGates(schedulingGates, `${path}.schedulingGates`),
]

function validateSchedulingGates(gates: readonly Partial<PodSchedulingGate>[], path: string): FieldError[] {
  const seen = new Set<string>()
  return gates.flatMap(({ name = '' }, index) => {
    const errors = qualifiedNameErrors(name).map((detail) => invalid(`${path}[${index}]`, name, detail))
    if (seen.has(name)) errors.push(duplicate(`${path}[${index}]`, name))
    seen.add(name)
    return errors
  })
}

/** With the host's network, a container port is a port of the host: the two must be equal. */
const validateHostNetworkPorts = ({ hostNetwork, containers }: PodSpec, path: string): FieldError[] =>
  containers.flatMap(({ ports = [] }, index) =>
    ports.flatMap(({ hostPort, containerPort }, position) =>
      hostNetwork && hostPort !== undefined && hostPort !== containerPort
        ? [
            invalid(
              `${path}.containers[${index}].ports[${position}].hostPort`,
              hostPort,
              'must match `containerPort` when `hostNetwork` is true',
            ),
          ]
        : [],
    ),
  )

function validatePodResources({ resources }: PodSpec, path: string): FieldError[] {
  if (resources === undefined) return []
  const { claims, ...amounts } = resources
  return [
    ...(claims === undefined ? [] : [forbidden(`${path}.claims`, 'claims cannot be set for Resources at pod-level')]),
    ...validateResources(amounts, new Set(), path),
  ]
}

function validateResourceClaims(claims: readonly PodResourceClaim[], path: string): FieldError[] {
  const seen = new Set<string>()
  return claims.flatMap(({ name, resourceClaimName, resourceClaimTemplateName }, index) => {
    const at = `${path}[${index}]`
    const shown = {
      Name: name ?? '',
      ResourceClaimName: resourceClaimName ?? null,
      ResourceClaimTemplateName: resourceClaimTemplateName ?? null,
    }
    const errors: FieldError[] = []
    if (!name) errors.push(required(`${at}.name`))
    else if (seen.has(name)) errors.push(duplicate(`${at}.name`, name))
    else for (const detail of dnsLabelErrors(name)) errors.push(invalid(`${at}.name`, name, detail))
    seen.add(name)
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined)
      errors.push(
        invalid(at, shown, 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'),
      )
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined)
      errors.push(invalid(at, shown, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'))
    return errors
  })
}
