// Rules of a Pod that do not apply to templates: defaults on creation, and what an update may change.
import { lookup } from '../../../../base/collections/lookup.ts'
import { memoizeInterned } from '../../../../base/collections/interned-values.ts'
import { forbidden, invalid, type FieldError } from '../../../../schema/validation/field-error.ts'
import { equalValues, identityOf, without } from '../../../../schema/json/json-value.ts'
import type { ApiObject } from '../../../meta/object.ts'
import type { Toleration } from '../scheduling/affinity.ts'
import { validatePodAnnotations, validatePodAnnotationUpdate } from './pod-annotations.ts'
import { validateImageSpace } from '../pod-spec/container-rules.ts'
import type { Container } from '../container/container.ts'
import { withPodSpecDefaults, validatePodSpec } from '../pod-spec/pod-spec-rules.ts'
import type { PodSchedulingGate, PodSpec } from '../pod-spec/pod-spec.ts'
import type { ResourceRequirements } from '../resources/resource-requirements.ts'

/** The fields of a Pod that are checked here. The kind's own file imports this one. */
interface PodObject extends ApiObject {
  readonly spec: PodSpec
}

export function withPodDefaults(spec: PodSpec): PodSpec {
  const complete = (container: Container): Container => withRequestsFromLimits(withHostPorts(container, spec))
  const { containers, initContainers, ...rest } = withPodSpecDefaults(spec)
  return {
    enableServiceLinks: true,
    ...rest,
    // Only in a pod; a template keeps the negative value and gets a warning.
    ...(rest.terminationGracePeriodSeconds < 0 && { terminationGracePeriodSeconds: 1 }),
    containers: containers.map(complete),
    ...(initContainers && { initContainers: initContainers.map(complete) }),
  }
}

/** A limit without a request is also the request. */
function withRequestsFromLimits<C extends { readonly resources: ResourceRequirements }>(container: C): C {
  const { limits, requests } = container.resources
  if (limits === undefined) return container
  return { ...container, resources: { ...container.resources, requests: { ...limits, ...requests } } }
}

function withHostPorts(container: Container, { hostNetwork }: PodSpec): Container {
  if (!hostNetwork || container.ports === undefined) return container
  const ports = container.ports.map((port) => (port.hostPort ? port : { ...port, hostPort: port.containerPort }))
  return { ...container, ports }
}

export function validatePod({ metadata, spec }: PodObject, old?: PodObject): readonly FieldError[] {
  const annotationErrors = validatePodAnnotations(metadata.annotations, spec)
  const errors = old === undefined ? newSpecErrors(spec) : specErrors(spec)
  return annotationErrors.length === 0 ? errors : [...annotationErrors, ...errors]
}

const specErrors = (spec: PodSpec): FieldError[] => [
  ...validatePodSpec(spec, 'spec'),
  ...(['containers', 'initContainers'] as const).flatMap((field) =>
    (spec[field] ?? []).flatMap((container, index) => validateImageSpace(container, `spec.${field}[${index}]`)),
  ),
]

const newSpecErrors = memoizeInterned((spec: PodSpec): readonly FieldError[] => [
  ...specErrors(spec),
  ...lateFieldErrors(spec),
])

/** Fields that are only set later, by a subresource or the scheduler. */
const lateFieldErrors = ({ ephemeralContainers = [], nodeName, schedulingGates = [] }: PodSpec): FieldError[] => [
  ...(ephemeralContainers.length > 0 ? [forbidden('spec.ephemeralContainers', 'cannot be set on create')] : []),
  ...(nodeName && schedulingGates.length > 0
    ? [forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')]
    : []),
]

const unchangeable =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

export function validatePodUpdate(object: PodObject, old: PodObject): FieldError[] {
  return [
    ...validatePodAnnotationUpdate(object.metadata.annotations, old.metadata.annotations),
    ...validateSpecUpdate(object.spec, old.spec),
  ]
}

function validateSpecUpdate(spec: PodSpec, old: PodSpec): FieldError[] {
  for (const field of ['containers', 'initContainers'] as const)
    if ((spec[field] ?? []).length !== (old[field] ?? []).length)
      return [forbidden(`spec.${field}`, 'pod updates may not add or remove containers')]
  const errors = [
    ...validateDeadlineUpdate(spec.activeDeadlineSeconds, old.activeDeadlineSeconds),
    ...validateTolerationsUpdate(spec.tolerations ?? [], old.tolerations ?? []),
    ...validateGatesUpdate(spec.schedulingGates ?? [], old.schedulingGates ?? []),
    ...validateSelectorUpdate(spec, old),
  ]
  if (!equalValues(withChangeableFieldsOf(spec, old), old)) errors.push(forbidden('spec', unchangeable))
  return errors
}

function validateDeadlineUpdate(seconds: number | undefined, old: number | undefined): FieldError[] {
  if (old === undefined) return []
  const path = 'spec.activeDeadlineSeconds'
  if (seconds === undefined) return [invalid(path, null, 'must not update from a positive integer to nil value')]
  return seconds > old ? [invalid(path, seconds, 'must be less than or equal to previous value')] : []
}

function validateTolerationsUpdate(tolerations: readonly Toleration[], old: readonly Toleration[]): FieldError[] {
  const known = new Set(tolerations.map(lastingIdentity))
  return old.every((before) => known.has(lastingIdentity(before)))
    ? []
    : [forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')]
}

const lastingIdentity = (toleration: Toleration): unknown => identityOf(without(toleration, 'tolerationSeconds'))

function validateGatesUpdate(gates: readonly PodSchedulingGate[], old: readonly PodSchedulingGate[]): FieldError[] {
  const known = new Set(old.map(({ name }) => name))
  return gates.flatMap(({ name }, index) =>
    known.has(name)
      ? []
      : [
          forbidden(
            `spec.schedulingGates[${index}].name`,
            `only deletion is allowed, but found new scheduling gate '${name}'`,
          ),
        ],
  )
}

/** While a pod has scheduling gates, requirements may be added to its node selector. */
function validateSelectorUpdate({ nodeSelector = {} }: PodSpec, old: PodSpec): FieldError[] {
  if (!isGated(old)) return []
  const isKept = Object.entries(old.nodeSelector ?? {}).every(([name, value]) => lookup(nodeSelector, name) === value)
  return isKept
    ? []
    : [
        invalid(
          'spec.nodeSelector',
          nodeSelector,
          'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
        ),
      ]
}

const isGated = ({ schedulingGates = [] }: PodSpec): boolean => schedulingGates.length > 0

/** The new spec, with the old values of all fields that have rules of their own. */
function withChangeableFieldsOf(spec: PodSpec, old: PodSpec): Partial<PodSpec> {
  const withImages = (field: 'containers' | 'initContainers') =>
    spec[field]?.map((container, index) => ({ ...container, image: old[field]?.[index]?.image })) as Container[]
  const { terminationGracePeriodSeconds: seconds } = spec
  return {
    ...spec,
    containers: withImages('containers'),
    ...(spec.initContainers && { initContainers: withImages('initContainers') }),
    ...({
      activeDeadlineSeconds: old.activeDeadlineSeconds,
      tolerations: old.tolerations,
      schedulingGates: old.schedulingGates,
    } as Partial<PodSpec>),
    ...(isGated(old) && ({ nodeSelector: old.nodeSelector } as Partial<PodSpec>)),
    terminationGracePeriodSeconds:
      old.terminationGracePeriodSeconds < 0 && seconds === 1 ? old.terminationGracePeriodSeconds : seconds,
  }
}
