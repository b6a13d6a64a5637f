// Updates of a pod through the subresources ephemeralcontainers and resize.
import type { Container } from '../../../api/core/v1/container/container.ts'
import { qosClassOf } from '../../../api/core/v1/pod-spec/qos.ts'
import type { ResourceRequirements } from '../../../api/core/v1/resources/resource-requirements.ts'
import { pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import { invalidObject } from '../../../api/errors/status-error.ts'
import { forbidden, invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { nextInt64 } from '../../../schema/scalar/int64.ts'

/** Ephemeral containers can be added, but not changed or removed. */
export function withEphemeralContainers(sent: Pod, old: Pod): Pod {
  const now = sent.spec.ephemeralContainers ?? []
  const errors = (old.spec.ephemeralContainers ?? []).flatMap((before): FieldError[] => {
    const after = now.find(({ name }) => name === before.name)
    if (after !== undefined && equalValues(after, before)) return []
    const what = after === undefined ? 'removed' : 'changed'
    const detail = `existing ephemeral containers ${JSON.stringify(before.name)} may not be ${what}\n`
    return [forbidden('spec.ephemeralContainers', detail)]
  })
  throwIfInvalid(old, errors)
  if (now.length === 0) return old
  return withGeneration({ ...old, spec: { ...old.spec, ephemeralContainers: now } }, old)
}

const resizable = new Set(['cpu', 'memory'])

/** Only the resources of containers are used. Only cpu and memory may change, and the QoS class must stay the same. */
export function withResizedResources(sent: Pod, old: Pod): Pod {
  const taking = (field: 'containers' | 'initContainers') =>
    old.spec[field]?.map((container): Container => {
      const resources = sent.spec[field]?.find(({ name }) => name === container.name)?.resources
      return resources === undefined ? container : { ...container, resources }
    })
  const initContainers = taking('initContainers')
  const containers = taking('containers') ?? []
  const { resources: whole = old.spec.resources } = sent.spec
  const spec = {
    ...old.spec,
    containers,
    ...(initContainers === undefined ? {} : { initContainers }),
    ...(whole === undefined ? {} : { resources: whole }),
  }
  const errors = [
    ...containers.flatMap(({ resources }, index) =>
      fixedChanges(`spec.containers[${index}].resources`, resources, old.spec.containers[index]?.resources),
    ),
    ...fixedChanges('spec.resources', whole, old.spec.resources),
  ]
  const was = qosClassOf(old.spec)
  const is = qosClassOf(spec)
  if (was !== is) errors.push(invalid('spec', is, 'Pod QOS Class may not change as a result of resizing'))
  throwIfInvalid(old, errors)
  return withGeneration({ ...old, spec }, old)
}

/** Errors in changes that a resize does not allow. */
function fixedChanges(path: string, now: ResourceRequirements = {}, before: ResourceRequirements = {}): FieldError[] {
  const fixed = (part: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(part).filter(([name]) => !resizable.has(name)))
  const isSame = (['requests', 'limits'] as const).every((part) => equalValues(fixed(now[part]), fixed(before[part])))
  return isSame ? [] : [forbidden(path, 'only cpu and memory resources are mutable')]
}

function throwIfInvalid({ metadata }: Pod, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject(pod.group, pod.kind, metadata.name, errors)
}

const withGeneration = (object: Pod, old: Pod): Pod =>
  equalValues(object.spec, old.spec)
    ? old
    : { ...object, metadata: { ...object.metadata, generation: nextInt64(old.metadata.generation ?? 0) } }
