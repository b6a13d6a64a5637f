// The way from a pod to an address: of a Service, of a node, of a pod, or of none of these.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ServicePort } from '../../api/core/v1/service/service-spec.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { keyOf } from '../../api/meta/object.ts'
import { familyOf } from '../../base/net/address-family.ts'
import { cidrHasAddress } from '../../base/net/cidr.ts'
import { joinHostPort } from '../../base/net/host-port.ts'
import { parseCidrSloppy, parseIpSloppy } from '../../base/net/sloppy-address.ts'
import { podAddress, type ClusterMap } from './cluster-map.ts'
import type { ReachTarget } from './reach-target.ts'
import { proxiedPath, servicePortText, type ServiceAddress } from './service-path.ts'
import { noPath, throughService, type TrafficPath } from './traffic-path.ts'

type AddressTarget = Extract<ReachTarget, { kind: 'address' }>

export function pathToAddress(source: Pod, target: AddressTarget, map: ClusterMap): TrafficPath {
  if (podAddress(source, familyOf(target.address)) === undefined)
    return { ...noPath, failures: [`Pod ${keyOf(source)} has no ${familyOf(target.address)} address.`] }
  for (const object of map.services) {
    const at = serviceAddress(object, target.address)
    if (at !== undefined) return pathToServiceAddress(source, target, object, at, map)
  }
  const { address, port, protocol } = target
  const direct = { ...noPath, hops: [{ address, port, protocol, isMasqueraded: false }] }
  const node = map.nodeAt(address)
  if (node === undefined)
    return map.podAt(address) === undefined
      ? { ...direct, unchecked: [`what is at ${joinHostPort(address, port)}: no Service, pod or node has the address`] }
      : direct
  const [object, atPort] = nodePortOf(target, map) ?? []
  if (object === undefined || atPort === undefined) return direct
  const topology = map.topologyOf(source.spec.nodeName ?? '')
  if (node.metadata.name === topology.name)
    return throughService(
      proxiedPath(object, atPort, { address, kind: 'node port' }, map.slicesOf(object), topology),
      protocol,
      object.spec.externalTrafficPolicy !== 'Local',
    )
  return {
    ...direct,
    sentences: [`Port ${port} of node ${node.metadata.name} is a node port of the Service ${keyOf(object)}.`],
    unchecked: [
      `which endpoint node ${node.metadata.name} chooses, and whether its policies allow the traffic: --reach service/${keyOf(object)}:${atPort.port} explains the Service`,
    ],
  }
}

function nodePortOf({ port, protocol }: AddressTarget, map: ClusterMap): [Service, ServicePort] | undefined {
  for (const object of map.services)
    for (const each of object.spec.ports ?? [])
      if (each.nodePort === port && each.protocol === protocol) return [object, each]
  return undefined
}

function serviceAddress({ spec, status }: Service, address: string): ServiceAddress | undefined {
  if (spec.clusterIP === address || spec.clusterIPs?.includes(address)) return { address, kind: 'cluster IP' }
  if (spec.externalIPs?.includes(address)) return { address, kind: 'external IP' }
  const isBalanced = (status.loadBalancer.ingress ?? []).some(({ ip, ipMode }) => ip === address && ipMode !== 'Proxy')
  return isBalanced ? { address, kind: 'load balancer IP' } : undefined
}

function pathToServiceAddress(
  source: Pod,
  { port, protocol, address }: AddressTarget,
  object: Service,
  at: ServiceAddress,
  map: ClusterMap,
): TrafficPath {
  const { spec } = object
  const found = spec.ports?.find((each) => each.port === port && each.protocol === protocol)
  if (found === undefined) {
    const names = (spec.ports ?? []).map(servicePortText).join(', ')
    return {
      ...noPath,
      failures: [
        `${address} is the ${at.kind} of the Service ${keyOf(object)}, which has no port ${port}/${protocol}; it has ${names}.`,
      ],
    }
  }
  const ranges =
    at.kind === 'load balancer IP' ? (spec.loadBalancerSourceRanges ?? []).map((range) => range.trim()) : []
  const client = podAddress(source, familyOf(address)) ?? ''
  if (ranges.length > 0 && !ranges.some((range) => isInside(client, range)))
    return {
      ...noPath,
      failures: [
        `Connections are dropped: the source ranges of the Service ${keyOf(object)} (${ranges.join(', ')}) do not contain ${client}.`,
      ],
    }
  const node = map.topologyOf(source.spec.nodeName ?? '')
  const isMasqueraded = at.kind !== 'cluster IP' && spec.externalTrafficPolicy !== 'Local'
  return throughService(proxiedPath(object, found, at, map.slicesOf(object), node), protocol, isMasqueraded)
}

function isInside(text: string, range: string): boolean {
  const address = parseIpSloppy(text)
  const cidr = parseCidrSloppy(range)
  return address !== undefined && cidr !== undefined && cidrHasAddress(cidr, address)
}
