// In-place resize: decisions about changed requests and limits of a running pod. Pure: the resources in force are read
// from the pod's status.
import { lookup } from '../../base/collections/lookup.ts'
import type { Container } from '../../api/core/v1/container/container.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ContainerStatus, PodCondition, PodStatus } from '../../api/core/v1/pod/pod-status.ts'
import { cachedBySpec } from '../../api/core/v1/pod-spec/bound-spec.ts'
import { quantityText } from '../../schema/scalar/quantity.ts'
import { amountOf, podRequests } from '../../api/core/v1/pod/pod-requests.ts'
import type { ResourceAmounts } from './resource-amounts.ts'

/** Resources that can be resized. */
export const resizable = ['cpu', 'memory'] as const

export type Requirements = Container['resources']

export const sameResources = (a: Requirements, b: Requirements): boolean =>
  resizable.every((name) =>
    (['requests', 'limits'] as const).every(
      (part) => amountOf(name, a[part]?.[name]) === amountOf(name, b[part]?.[name]),
    ),
  )

/** The resources in force according to the status; undefined when none have been reported. */
export const resourcesInForce = ({ status }: Pick<Pod, 'status'>, name: string): Requirements | undefined =>
  statusOf(status, name)?.resources

const statusOf = (status: PodStatus, name: string): ContainerStatus | undefined =>
  [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].find((one) => one.name === name)

/** Containers whose desired resources differ from those in force. */
export const resizedContainers = (pod: Pod): readonly Container[] =>
  [...(pod.spec.initContainers ?? []), ...pod.spec.containers].filter(({ name, resources }) => {
    const present = resourcesInForce(pod, name)
    return present !== undefined && !sameResources(present, resources)
  })

/** Whether the desired pod-level resources differ from those in force. A pod may have got its first ones. */
export const isPodLevelResized = ({ spec, status }: Pod): boolean => {
  if (status.resources === undefined && spec.resources === undefined) return false
  const isReported = status.containerStatuses?.some(({ resources }) => resources !== undefined) ?? false
  return isReported && !sameResources(status.resources ?? {}, spec.resources ?? {})
}

/** The pod with the resources in force instead of the desired ones. */
export function withAllocatedResources(pod: Pod): Pod {
  if (resizedContainers(pod).length === 0 && !isPodLevelResized(pod)) return pod
  const granted = (container: Container): Container => ({
    ...container,
    resources: resourcesInForce(pod, container.name) ?? container.resources,
  })
  const { initContainers, containers, resources: _, ...others } = pod.spec
  return {
    ...pod,
    spec: {
      ...others,
      containers: containers.map(granted),
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(granted) }),
      ...(pod.status.resources === undefined ? {} : { resources: pod.status.resources }),
    },
  }
}

export type ResizeDecision =
  | { readonly kind: 'granted' }
  | { readonly kind: 'pending'; readonly reason: 'Deferred' | 'Infeasible'; readonly message: string }

/** Whether the node can provide the resources: now, later, or never. */
export function evaluateResize(pod: Pod, others: readonly Pod[], allocatable: ResourceAmounts): ResizeDecision {
  const wanted = podRequests({ spec: pod.spec })
  const capacity = (name: string) => amountOf(name, lookup(allocatable, name))
  const missing = (free: (name: string) => number) =>
    [...resizable].toReversed().find((name) => (wanted.get(name) ?? 0) > free(name))
  const infeasible = missing(capacity)
  const requested = (name: string) => wanted.get(name) ?? 0
  if (infeasible !== undefined) {
    const message = `Node didn't have enough capacity: ${infeasible}, requested: ${requested(infeasible)}, capacity: ${capacity(infeasible)}`
    return { kind: 'pending', reason: 'Infeasible', message }
  }
  const used = (name: string) =>
    others.reduce((sum, other) => sum + (podRequests({ spec: withAllocatedResources(other).spec }).get(name) ?? 0), 0)
  const deferred = missing((name) => capacity(name) - used(name))
  if (deferred === undefined) return { kind: 'granted' }
  const message = `Node didn't have enough resource: ${deferred}, requested: ${requested(deferred)}, used: ${used(deferred)}, capacity: ${capacity(deferred)}`
  return { kind: 'pending', reason: 'Deferred', message }
}

/** The container with the limits of its pod where it has none of its own. */
export const withPodLimits = (container: Container, { spec }: Pick<Pod, 'spec'>): Container => {
  const { limits: ofPod } = spec.resources ?? {}
  if (ofPod === undefined) return container
  const { resources } = container
  return { ...container, resources: { ...resources, limits: { ...ofPod, ...resources.limits } } }
}

/** Whether the resize policy of a container requires a restart for the change. */
export const needsRestart = ({ resizePolicy = [], resources }: Container, present: Requirements): boolean =>
  resizable.some((name) => {
    const isChanged = !sameResources(only(present, name), only(resources, name))
    const policy = resizePolicy.find(({ resourceName }) => resourceName === name)?.restartPolicy
    return isChanged && policy === 'RestartContainer'
  })

function only({ requests, limits }: Requirements, name: string): Requirements {
  const request = lookup(requests, name)
  const limit = lookup(limits, name)
  return {
    requests: request === undefined ? {} : { [name]: request },
    limits: limit === undefined ? {} : { [name]: limit },
  }
}

const pendingType = 'PodResizePending'
const progressType = 'PodResizeInProgress'

export interface ResizeReport {
  /** Resources in force by container name. */
  readonly resources: ReadonlyMap<string, Requirements>
  /** Pod-level resources in force; undefined when the pod has none. */
  readonly podLevel: Requirements | undefined
  /** The pod with its allocated resources. */
  readonly granted: Pod
  readonly decision: ResizeDecision
  /** The error of the last attempt, empty when there is none; undefined when no resize is in progress. */
  readonly progress: { readonly message: string } | undefined
}

/** The requests of the pod, or those of its containers together. */
const allocatedRequests = cachedBySpec((spec): Readonly<Record<string, string>> => {
  if (spec.resources?.requests !== undefined) return spec.resources.requests
  const { overhead: _, ...own } = spec
  const containers = [...(spec.initContainers ?? []), ...spec.containers]
  const total = Array.from(podRequests({ spec: own }), ([name, amount]) => {
    const like = containers.map(({ resources }) => lookup(resources.requests, name)).find((text) => text !== undefined)
    return [name, quantityText(BigInt(amount) * (name === 'cpu' ? nanosPerMilli : nanosPerUnit), like)] as const
  })
  return Object.fromEntries(total)
})

const nanosPerMilli = 1_000_000n
const nanosPerUnit = 1_000_000_000n

/** Adds the resources in force and the resize conditions to a pod's status. */
export function withResize(status: PodStatus, { metadata }: Pod, report: ResizeReport, now: string): PodStatus {
  const { resources, podLevel, granted, decision, progress } = report
  const grantedOf = (name: string) =>
    [...(granted.spec.initContainers ?? []), ...granted.spec.containers].find((one) => one.name === name)?.resources
  const withResources = (one: ContainerStatus): ContainerStatus => {
    const own = resources.get(one.name)
    const allocated = grantedOf(one.name)?.requests
    if (own === undefined || (own.requests === undefined && own.limits === undefined)) return one
    return { ...one, resources: own, ...(allocated === undefined ? {} : { allocatedResources: allocated }) }
  }
  const allocated = allocatedRequests(granted.spec)
  const others = (status.conditions ?? []).filter(({ type }) => type !== pendingType && type !== progressType)
  const condition = (type: string, more: object): PodCondition => {
    const before = status.conditions?.find((one) => one.type === type)
    const lastTransitionTime = before?.lastTransitionTime ?? now
    const { generation } = metadata
    return {
      type,
      status: 'True',
      ...more,
      lastTransitionTime,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    }
  }
  const conditions = [
    ...others,
    ...(decision.kind === 'pending'
      ? [condition(pendingType, { reason: decision.reason, message: decision.message })]
      : []),
    ...(progress === undefined
      ? []
      : [condition(progressType, progress.message === '' ? {} : { reason: 'Error', message: progress.message })]),
  ]
  return {
    ...status,
    conditions,
    ...(podLevel === undefined ? {} : { resources: podLevel }),
    ...(Object.keys(allocated).length === 0 ? {} : { allocatedResources: allocated }),
    ...(status.containerStatuses === undefined
      ? {}
      : { containerStatuses: status.containerStatuses.map(withResources) }),
    ...(status.initContainerStatuses === undefined
      ? {}
      : { initContainerStatuses: status.initContainerStatuses.map(withResources) }),
  }
}
