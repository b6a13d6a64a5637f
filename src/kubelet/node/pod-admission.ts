// Admission of pods on the node: a pod that was bound manually, by a manifest, or by a scheduler with outdated
// information may not fit.
import { lookup } from '../../base/collections/lookup.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { matchesRequiredAffinity, type SelectableNode } from '../../api/core/v1/pod-spec/node-selection.ts'
import { amountOf, podRequests } from '../../api/core/v1/pod/pod-requests.ts'
import type { PodTermination } from '../pod/pod-sync-state.ts'

export interface AdmissionInput {
  readonly pod: Pod
  readonly node: SelectableNode
  readonly allocatable: Readonly<Record<string, string>>
  readonly operatingSystem: string
  /** Admitted pods that have not finished. */
  readonly others: readonly Pod[]
}

/** Why the pod is rejected; undefined when it is admitted. */
export function rejectionOf(input: AdmissionInput): PodTermination | undefined {
  const { pod, node, operatingSystem } = input
  const { spec } = pod
  if (!matchesRequiredAffinity(spec, node))
    return predicate('NodeAffinity', "node(s) didn't match Pod's node affinity/selector")
  if (spec.os !== undefined && spec.os.name !== operatingSystem)
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" }
  if (hasPortConflict(input))
    return predicate('NodePorts', "node(s) didn't have free ports for the requested pod ports")
  return insufficientResource(input)
}

const predicate = (reason: string, detail: string): PodTermination => ({
  reason,
  message: `Predicate ${reason} failed: ${detail}`,
})

function insufficientResource({ pod, allocatable, others }: AdmissionInput): PodTermination | undefined {
  const demands = new Map([['pods', 1], ...podRequests(pod)])
  // Most pods request nothing, so the requests of the other pods are only summed up when they are needed.
  let held: ReturnType<typeof podRequests>[] | undefined
  const usedOf = (resource: string): number => {
    if (resource === 'pods') return others.length
    held ??= others.map((other) => podRequests(other))
    return held.reduce((sum, amounts) => sum + (amounts.get(resource) ?? 0), 0)
  }
  for (const [resource, requested] of demands) {
    if (requested === 0 || isClusterResource(resource, allocatable)) continue
    const capacity = amountOf(resource, lookup(allocatable, resource))
    const used = usedOf(resource)
    if (used + requested > capacity)
      return {
        reason: `OutOf${resource}`,
        message: `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
      }
  }
  return undefined
}

/**
 * An extended resource that the node does not list is not checked, because the scheduler or a device claim accounts for
 * it.
 */
const isClusterResource = (resource: string, allocatable: AdmissionInput['allocatable']): boolean =>
  resource.includes('/') && lookup(allocatable, resource) === undefined

/** Host ports of a pod: address, protocol and number. */
const hostPorts = ({ spec }: Pod) =>
  spec.containers.flatMap(({ ports = [] }) =>
    ports
      .map(({ hostPort = 0, containerPort, hostIP = '', protocol }) => ({
        port: spec.hostNetwork ? containerPort : hostPort,
        ip: hostIP || anyAddress,
        protocol,
      }))
      .filter(({ port }) => port > 0),
  )
const anyAddress = '0.0.0.0'

function hasPortConflict({ pod, others }: AdmissionInput): boolean {
  const wanted = hostPorts(pod)
  if (wanted.length === 0) return false
  const taken = others.flatMap(hostPorts)
  return wanted.some(({ port, ip, protocol }) =>
    taken.some(
      (other) =>
        other.port === port &&
        other.protocol === protocol &&
        (other.ip === ip || other.ip === anyAddress || ip === anyAddress),
    ),
  )
}
