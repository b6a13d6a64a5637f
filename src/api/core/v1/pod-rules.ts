// Rules of a PodSpec wherever it stands: defaults that depend on other fields, and validation.
import { duplicate, invalid, required, type FieldError } from '../../../schema/field-error.ts'
import { dnsLabelErrors } from '../../names.ts'
import type { Container } from './container.ts'
import type { PodSpec } from './pod-spec.ts'

export function withPodSpecDefaults(spec: PodSpec): PodSpec {
  const hostPorts = spec.hostNetwork === true
  return {
    ...spec,
    containers: (spec.containers ?? []).map((container) => withContainerDefaults(container, hostPorts)),
    ...(spec.initContainers === undefined
      ? {}
      : { initContainers: spec.initContainers.map((container) => withContainerDefaults(container, hostPorts)) }),
  }
}

function withContainerDefaults(container: Container, hostPorts: boolean): Container {
  const ports = container.ports?.map((port) =>
    hostPorts && port.hostPort === undefined ? { ...port, hostPort: port.containerPort } : port,
  )
  return {
    ...container,
    ...(container.imagePullPolicy === undefined ? { imagePullPolicy: pullPolicyOf(container.image ?? '') } : {}),
    ...(ports === undefined ? {} : { ports }),
  }
}

/** An image without a tag, or with the tag latest, is pulled each time. */
function pullPolicyOf(image: string): 'Always' | 'IfNotPresent' {
  if (image.includes('@')) return 'IfNotPresent'
  const tag = /:([^/:]+)$/.exec(image)?.[1] ?? 'latest'
  return tag === 'latest' ? 'Always' : 'IfNotPresent'
}

export function validatePodSpec(spec: PodSpec, path: string): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  for (const [field, containers] of [
    ['initContainers', spec.initContainers ?? []],
    ['containers', spec.containers],
  ] as const)
    for (const [index, container] of containers.entries())
      errors.push(...validateContainer(container, `${path}.${field}[${index}]`, names))
  const volumes = new Set<string>()
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    const at = `${path}.volumes[${index}].name`
    if (volume.name === '') continue
    for (const detail of dnsLabelErrors(volume.name)) errors.push(invalid(at, volume.name, detail))
    if (volumes.has(volume.name)) errors.push(duplicate(at, volume.name))
    volumes.add(volume.name)
  }
  return errors
}

function validateContainer({ name, image }: Container, path: string, names: Set<string>): FieldError[] {
  const errors: FieldError[] = []
  if (name !== undefined && name !== '') {
    for (const detail of dnsLabelErrors(name)) errors.push(invalid(`${path}.name`, name, detail))
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name))
    names.add(name)
  }
  if (image === undefined) errors.push(required(`${path}.image`))
  return errors
}
