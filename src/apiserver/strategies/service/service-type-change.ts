// Updates of a Service: fields that a client left out are preserved, and fields that the new type does not use are
// dropped.
import type { ServicePort, ServiceSpec } from '../../../api/core/v1/service/service-spec.ts'
import { isReachableFromOutside, needsHealthCheck } from '../../../api/core/v1/service/service-traffic-rules.ts'
import { equalValues } from '../../../schema/json/json-value.ts'

export const needsClusterAddress = ({ type }: ServiceSpec): boolean =>
  type === 'ClusterIP' || type === 'NodePort' || type === 'LoadBalancer'

export const needsNodePorts = ({ type, allocateLoadBalancerNodePorts: wanted }: ServiceSpec): boolean =>
  type === 'NodePort' || (type === 'LoadBalancer' && wanted !== false)

export const isBalanced = ({ type }: ServiceSpec): boolean => type === 'LoadBalancer'
const mayHaveNodePorts = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer'

type Field = keyof ServiceSpec

/** Fields that only some types use. A change of the type drops them, unless the client set new values. */
const fieldsOfTypes: readonly [isUsed: (spec: ServiceSpec) => boolean, fields: readonly Field[]][] = [
  [needsClusterAddress, ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy']],
  [needsHealthCheck, ['healthCheckNodePort']],
  [isBalanced, ['allocateLoadBalancerNodePorts', 'loadBalancerClass']],
  [isReachableFromOutside, ['externalTrafficPolicy']],
]

export function withoutUnusedFields(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
  let kept: Partial<ServiceSpec> = spec
  for (const [isUsed, fields] of fieldsOfTypes) {
    if (!isUsed(old) || isUsed(spec)) continue
    for (const field of fields)
      if (equalValues(spec[field], old[field])) {
        const { [field]: _, ...rest } = kept
        kept = rest
      }
  }
  const rest = kept as ServiceSpec
  if (rest.ports === undefined || mayHaveNodePorts(spec) || !mayHaveNodePorts(old) || !samePorts(spec, old)) return rest
  return { ...rest, ports: rest.ports.map(withoutNodePort) }
}

const samePorts = ({ ports = [] }: ServiceSpec, { ports: old = [] }: ServiceSpec): boolean => {
  const before = new Set(old.map(({ nodePort }) => nodePort))
  return ports.every(({ nodePort }) => nodePort === undefined || before.has(nodePort))
}

const withoutNodePort = ({ nodePort: _, ...port }: ServicePort): ServicePort => port

/** Allocated values are preserved where the client leaves them out. */
export function withPreservedFields(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
  const addressed = needsClusterAddress(spec) && needsClusterAddress(old) ? withOldAddress(spec, old) : spec
  const ported = needsNodePorts(spec) && needsNodePorts(old) ? withOldPorts(addressed, old) : addressed
  const isChecked = needsHealthCheck(spec) && needsHealthCheck(old) && old.healthCheckNodePort !== undefined
  return isChecked ? { ...ported, healthCheckNodePort: spec.healthCheckNodePort ?? old.healthCheckNodePort } : ported
}

// clusterIP and clusterIPs may disagree: clusterIP wins where only it was changed.
function withOldAddress(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
  const { clusterIP = old.clusterIP } = spec
  if (clusterIP === undefined) return spec
  const isListStale = spec.clusterIPs === undefined || (clusterIP !== old.clusterIP && sameList(spec, old))
  const clusterIPs = isListStale ? (clusterIP === old.clusterIP ? old.clusterIPs : [clusterIP]) : spec.clusterIPs
  return { ...spec, clusterIP, ...(clusterIPs === undefined ? {} : { clusterIPs }) }
}

const sameList = (spec: ServiceSpec, old: ServiceSpec): boolean => equalValues(spec.clusterIPs, old.clusterIPs)

function withOldPorts(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
  if (spec.ports === undefined) return spec
  const used = new Set(spec.ports.map(({ nodePort }) => nodePort))
  const before = new Map(old.ports?.map((port) => [`${port.protocol}/${port.port}`, port.nodePort]))
  const ports = spec.ports.map((port) => {
    const kept = before.get(`${port.protocol}/${port.port}`)
    if (port.nodePort !== undefined || kept === undefined || used.has(kept)) return port
    used.add(kept)
    return { ...port, nodePort: kept }
  })
  return { ...spec, ports }
}
