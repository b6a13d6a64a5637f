// The downward API: fields of the pod and resources of its containers, as text for variables and files.
import { lookup } from '../../base/collections/lookup.ts'
import type { ResourceFieldSelector } from '../../api/core/v1/container/env-var.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { quantityNanos } from '../../schema/scalar/quantity.ts'
import { ConfigError } from './config-error.ts'

/** Information about the node that fields can refer to. */
export interface NodeInfo {
  readonly nodeName: string
  readonly hostIp: string
  /** Used in place of a limit that a container does not have. */
  readonly allocatable: Readonly<Record<string, string>>
}

export function fieldValue(pod: Pod, path: string, podIps: readonly string[], node: NodeInfo): string {
  const { metadata, spec } = pod
  const subscript = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path)
  if (subscript !== null) {
    const [, field, key = ''] = subscript
    return lookup(field === 'labels' ? metadata.labels : metadata.annotations, key) ?? ''
  }
  switch (path) {
    case 'metadata.name':
      return metadata.name
    case 'metadata.namespace':
      return metadata.namespace ?? ''
    case 'metadata.uid':
      return metadata.uid
    case 'metadata.labels':
      return linesOf(metadata.labels)
    case 'metadata.annotations':
      return linesOf(metadata.annotations)
    case 'spec.nodeName':
      return spec.nodeName ?? node.nodeName
    case 'spec.serviceAccountName':
      return spec.serviceAccountName ?? ''
    case 'status.hostIP':
    case 'status.hostIPs':
      return node.hostIp
    case 'status.podIP':
      return podIps[0] ?? ''
    case 'status.podIPs':
      return podIps.join(',')
    default:
      throw new ConfigError(`unsupported fieldPath: ${path}`)
  }
}

/** Lines of `key="value"`, sorted by key. */
const linesOf = (entries: Readonly<Record<string, string>> | undefined): string =>
  Object.entries(entries ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join('\n')

/** The amount in units of the divisor, rounded up; the node's allocatable amount where the container has no limit. */
export function resourceValue(
  { spec }: Pod,
  { containerName, resource, divisor }: ResourceFieldSelector,
  ownName: string,
  node: NodeInfo,
): string {
  const name = containerName ?? ownName
  const container = [...(spec.initContainers ?? []), ...spec.containers].find((one) => one.name === name)
  if (container === undefined) throw new ConfigError(`container ${JSON.stringify(name)} not found`)
  const [, field, key = ''] = /^(requests|limits)\.(.+)$/.exec(resource) ?? []
  if (field === undefined) throw new ConfigError(`unsupported container resource: ${resource}`)
  const { limits = {}, requests = {} } = container.resources
  const amount =
    (field === 'limits' ? (lookup(limits, key) ?? lookup(node.allocatable, key)) : lookup(requests, key)) ?? '0'
  const unit = divisor === '0' ? '1' : divisor
  return String(divideUp(quantityNanos(amount) ?? 0n, quantityNanos(unit) ?? 1n))
}

const divideUp = (value: bigint, by: bigint): bigint => (value + by - 1n) / by
