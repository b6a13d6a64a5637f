// Rules of a pod's containers: those of all containers, then those of regular, init and ephemeral ones.
import { append } from '../../../../base/collections/append.ts'
import {
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  notFound,
  tooMany,
  type FieldError,
} from '../../../../schema/validation/field-error.ts'
import { dnsLabelErrors } from '../../../validation/names.ts'
import { portErrors, portNameErrors } from '../../../validation/network-rules.ts'
import type { Container, ContainerPort, ContainerResizePolicy, ContainerRestartRule } from '../container/container.ts'
import { validateEnv, validateEnvFrom } from '../container/env-var-rules.ts'
import { validateDevices, validateMounts, type Volumes } from '../volume/mount-rules.ts'
import type { PodSpec } from './pod-spec.ts'
import { validateLifecycle, validateProbes } from '../container/probe-rules.ts'
import { validateResources } from '../resources/resource-rules.ts'
import { validateSecurityContext } from './security-context-rules.ts'

export interface ContainerSurroundings {
  readonly spec: PodSpec
  readonly volumes: Volumes
  /** The names of the pod's resource claims. */
  readonly claims: ReadonlySet<string>
}

/** Containers by type; names are unique across all of them. */
export function validateContainers(around: ContainerSurroundings, path: string): FieldError[] {
  const { containers, initContainers = [] } = around.spec
  return [
    ...(containers.length === 0 ? [required(`${path}.containers`)] : []),
    ...validateRegular(containers, around, `${path}.containers`),
    ...validateInit(initContainers, containers, around, `${path}.initContainers`),
    ...validateEphemeral(around, `${path}.ephemeralContainers`),
  ]
}

function validateRegular(containers: readonly Container[], around: ContainerSurroundings, path: string): FieldError[] {
  const names = new Set<string>()
  const errors = containers.flatMap((container, index) => {
    const at = `${path}[${index}]`
    return [
      ...validateContainer(container, around, at),
      ...validateUnique(container.name, names, at),
      ...validateHooks(container, around, at),
      ...validateRestartRules(container, at),
    ]
  })
  append(
    errors,
    validateHostPorts(
      containers.map((container, index) => ({ container, index })),
      path,
    ),
  )
  return errors
}

const needsAlways = 'may not be set for init containers without restartPolicy=Always'

function validateInit(
  containers: readonly Container[],
  regular: readonly Container[],
  around: ContainerSurroundings,
  path: string,
): FieldError[] {
  if (containers.length === 0) return []
  const names = new Set(regular.map(({ name }) => name))
  return containers.flatMap((container, index) => {
    const at = `${path}[${index}]`
    const hooks = (['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const)
      .filter((name) => container[name] !== undefined)
      .map((name) => forbidden(`${at}.${name}`, needsAlways))
    return [
      ...validateContainer(container, around, at),
      ...validateRestartRules(container, at),
      ...validateUnique(container.name, names, at),
      ...validateHostPorts([{ container, index }], path),
      ...(container.restartPolicy === 'Always' ? validateHooks(container, around, at) : hooks),
    ]
  })
}

const notForEphemeral = 'cannot be set for an Ephemeral Container'

function validateEphemeral(around: ContainerSurroundings, path: string): FieldError[] {
  const { containers, initContainers = [], ephemeralContainers = [] } = around.spec
  if (ephemeralContainers.length === 0) return []
  const others = new Set([...containers, ...initContainers].map(({ name }) => name))
  const names = new Set(others)
  return ephemeralContainers.flatMap((container, index) => {
    const at = `${path}[${index}]`
    const { targetContainerName: target, volumeMounts = [], resources } = container
    const unwanted = (
      [
        'ports',
        'livenessProbe',
        'readinessProbe',
        'startupProbe',
        'lifecycle',
        'resizePolicy',
        'restartPolicy',
      ] as const
    ).filter((name) => container[name] !== undefined)
    return [
      ...validateContainer(container, around, at),
      ...validateImageSpace(container, at),
      ...validateUnique(container.name, names, at),
      ...(target === undefined || others.has(target) ? [] : [notFound(`${at}.targetContainerName`, target)]),
      ...unwanted.map((name) => forbidden(`${at}.${name}`, notForEphemeral)),
      ...(Object.keys(resources).length > 0 ? [forbidden(`${at}.resources`, notForEphemeral)] : []),
      ...volumeMounts.flatMap((mount, position) =>
        (['subPath', 'subPathExpr'] as const)
          .filter((name) => mount[name] !== undefined)
          .map((name) => forbidden(`${at}.volumeMounts[${position}].${name}`, notForEphemeral)),
      ),
    ]
  })
}

function validateContainer(container: Container, around: ContainerSurroundings, path: string): FieldError[] {
  const { name, image, ports = [], env = [], envFrom = [], resources, resizePolicy = [], securityContext } = container
  const mounts = {
    mounts: container.volumeMounts ?? [],
    devices: container.volumeDevices ?? [],
    isPrivileged: securityContext?.privileged === true,
  }
  return [
    ...(name ? dnsLabelErrors(name).map((detail) => invalid(`${path}.name`, name, detail)) : []),
    ...(image ? [] : [required(`${path}.image`)]),
    ...(ports.length === 0 ? [] : validatePorts(ports, `${path}.ports`)),
    ...validateEnv(env, `${path}.env`),
    ...validateEnvFrom(envFrom, `${path}.envFrom`),
    ...(mounts.mounts.length === 0 ? [] : validateMounts(mounts, around.volumes, `${path}.volumeMounts`)),
    ...(mounts.devices.length === 0 ? [] : validateDevices(mounts, around.volumes, `${path}.volumeDevices`)),
    ...validateResources(resources, around.claims, `${path}.resources`),
    ...(resizePolicy.length === 0
      ? []
      : validateResizePolicy(resizePolicy, around.spec.restartPolicy, `${path}.resizePolicy`)),
    ...validateSecurityContext(securityContext, around.spec, `${path}.securityContext`),
  ]
}

export const validateImageSpace = ({ image = '' }: Container, path: string): FieldError[] =>
  image === image.trim() ? [] : [invalid(`${path}.image`, image, 'must not have leading or trailing whitespace')]

function validateUnique(name: string, names: Set<string>, path: string): FieldError[] {
  if (!name) return []
  if (names.has(name)) return [duplicate(`${path}.name`, name)]
  names.add(name)
  return []
}

const validateHooks = (container: Container, { spec }: ContainerSurroundings, path: string): FieldError[] => {
  const graceSeconds = spec.terminationGracePeriodSeconds
  return [
    ...(container.lifecycle === undefined
      ? []
      : validateLifecycle(container.lifecycle, { graceSeconds, os: spec.os?.name }, `${path}.lifecycle`)),
    ...validateProbes(container, graceSeconds, path),
  ]
}

function validatePorts(ports: readonly ContainerPort[], path: string): FieldError[] {
  const names = new Set<string>()
  return ports.flatMap(({ name, containerPort, hostPort }, index) => {
    const at = `${path}[${index}]`
    const errors = name === undefined ? [] : portNameErrors(name).map((detail) => invalid(`${at}.name`, name, detail))
    if (name !== undefined && errors.length === 0) {
      if (names.has(name)) errors.push(duplicate(`${at}.name`, name))
      names.add(name)
    }
    if (!containerPort) errors.push(required(`${at}.containerPort`))
    else
      for (const detail of portErrors(containerPort)) errors.push(invalid(`${at}.containerPort`, containerPort, detail))
    if (hostPort !== undefined)
      for (const detail of portErrors(hostPort)) errors.push(invalid(`${at}.hostPort`, hostPort, detail))
    return errors
  })
}

/** Containers that run at the same time share the ports of the host. */
function validateHostPorts(
  containers: readonly { readonly container: Container; readonly index: number }[],
  path: string,
): FieldError[] {
  const taken = new Set<string>()
  const errors: FieldError[] = []
  for (const { container, index } of containers)
    for (const [position, { hostPort, hostIP = '', protocol }] of (container.ports ?? []).entries()) {
      if (hostPort === undefined) continue
      const place = `${protocol}/${hostIP}/${hostPort}`
      if (taken.has(place)) errors.push(duplicate(`${path}[${index}].ports[${position}].hostPort`, place))
      taken.add(place)
    }
  return errors
}

const resizable = ['cpu', 'memory']
const resizeRestarts = ['NotRequired', 'RestartContainer']

// Upstream reports each of these at the list, except duplicates.
function validateResizePolicy(
  policies: readonly ContainerResizePolicy[],
  podRestartPolicy: string,
  path: string,
): FieldError[] {
  const seen = new Set<string>()
  return policies.flatMap(({ resourceName, restartPolicy }, index) => {
    const errors = seen.has(resourceName) ? [duplicate(`${path}[${index}]`, resourceName)] : []
    seen.add(resourceName)
    for (const [value, supported] of [
      [resourceName, resizable],
      [restartPolicy, resizeRestarts],
    ] as const)
      if (!value) errors.push(required(path))
      else if (!supported.includes(value)) errors.push(notSupported(path, value, supported))
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired')
      errors.push(invalid(path, restartPolicy, "must be 'NotRequired' when `restartPolicy` is 'Never'"))
    return errors
  })
}

const containerRestartPolicies = ['Always', 'Never', 'OnFailure']
const restartActions = ['Restart', 'RestartAllContainers']
const exitCodeOperators = ['In', 'NotIn']
const restartRulesMax = 20
const exitCodesMax = 255

function validateRestartRules({ restartPolicy, restartPolicyRules = [] }: Container, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (restartPolicy !== undefined && !containerRestartPolicies.includes(restartPolicy))
    errors.push(notSupported(`${path}.restartPolicy`, restartPolicy, containerRestartPolicies))
  if (restartPolicyRules.length > 0 && restartPolicy === undefined)
    errors.push(required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used'))
  if (restartPolicyRules.length > restartRulesMax)
    errors.push(tooMany(`${path}.restartPolicyRules`, restartPolicyRules.length, restartRulesMax))
  restartPolicyRules.forEach((rule, index) =>
    append(errors, validateRestartRule(rule, `${path}.restartPolicyRules[${index}]`)),
  )
  return errors
}

// Both fields are required, and absent if they were empty: upstream then shows them as "".
function validateRestartRule({ action, exitCodes }: ContainerRestartRule, path: string): FieldError[] {
  const errors = restartActions.includes(action) ? [] : [notSupported(`${path}.action`, action || '', restartActions)]
  if (exitCodes === undefined) return [...errors, required(`${path}.exitCodes`, 'must be specified')]
  const { operator, values = [] } = exitCodes
  if (!exitCodeOperators.includes(operator))
    errors.push(notSupported(`${path}.exitCodes.operator`, operator || '', exitCodeOperators))
  if (values.length > exitCodesMax) errors.push(tooMany(`${path}.exitCodes.values`, values.length, exitCodesMax))
  return errors
}
