// TrafficPath: the way from a pod to another pod or to a Service: what the Service chooses, and to which addresses packets are
// sent then.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ServicePort } from '../../api/core/v1/service/service-spec.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { keyOf } from '../../api/meta/object.ts'
import { familyOf } from '../../base/net/address-family.ts'
import type { Protocol } from '../../network-policy/rules/compiled-policy.ts'
import { podAddress, type ClusterMap } from './cluster-map.ts'
import type { ReachTarget } from './reach-target.ts'
import { headlessPath, proxiedPath, servicePortText, type ServicePath } from './service-path.ts'

/** Where packets go after a Service has chosen. */
export interface Hop {
  readonly address: string
  readonly port: number
  readonly protocol: Protocol
  /** Whether peers on other nodes see the address of the node of the client. */
  readonly isMasqueraded: boolean
}

export interface TrafficPath {
  readonly hops: readonly Hop[]
  readonly sentences: readonly string[]
  /** Why the traffic goes nowhere, whatever the policies are. */
  readonly failures: readonly string[]
  readonly unchecked: readonly string[]
}

/** The target cannot be explained as it was named. */
export class ReachTargetError extends Error {
  override name = 'ReachTargetError'
}

/** Leads nowhere. */
export const noPath: TrafficPath = { hops: [], sentences: [], failures: [], unchecked: [] }

const joined = (paths: readonly TrafficPath[]): TrafficPath => ({
  hops: paths.flatMap(({ hops }) => hops),
  sentences: [...new Set(paths.flatMap(({ sentences }) => sentences))],
  failures: [...new Set(paths.flatMap(({ failures }) => failures))],
  unchecked: [...new Set(paths.flatMap(({ unchecked }) => unchecked))],
})

type ObjectTarget = Extract<ReachTarget, { kind: 'pod' | 'service' }>

/** Directly to a pod. */
export function pathToPod(source: Pod, target: ObjectTarget, pod: Pod): TrafficPath {
  const { port, protocol } = podPort(pod, target)
  const families = (['IPv4', 'IPv6'] as const).filter((family) => podAddress(source, family) !== undefined)
  const addresses = families.flatMap((family) => podAddress(pod, family) ?? [])
  const hops = addresses.map((address) => ({ address, port, protocol, isMasqueraded: false }))
  if (hops.length > 0) return { ...noPath, hops }
  const why = podAddress(pod, 'IPv4') ?? podAddress(pod, 'IPv6')
  return {
    ...noPath,
    failures: [
      why === undefined
        ? `Pod ${keyOf(pod)} has no address yet.`
        : `Pod ${keyOf(pod)} has no address of the families of pod ${keyOf(source)}.`,
    ],
  }
}

/** The port of a pod: a number, a name that it declares, or the only one that it declares. */
function podPort(pod: Pod, { port, protocol }: ObjectTarget): { port: number; protocol: Protocol } {
  if (typeof port === 'number') return { port, protocol: protocol ?? 'TCP' }
  const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  const declared = [...pod.spec.containers, ...sidecars].flatMap(({ ports = [] }) => ports)
  const [found, ...more] = declared.filter(
    (each) => (port === undefined || each.name === port) && (protocol === undefined || each.protocol === protocol),
  )
  if (found !== undefined && (port !== undefined || more.length === 0))
    return { port: found.containerPort, protocol: found.protocol }
  const names = declared.map(({ name, containerPort, protocol: offered }) =>
    servicePortText({ name, port: containerPort, protocol: offered }),
  )
  throw new ReachTargetError(
    `name a port of pod ${keyOf(pod)}, for example :80; it declares ${names.length === 0 ? 'no ports' : names.join(', ')}`,
  )
}

/** Through a Service, at its cluster IPs or, without one, at the addresses of its endpoints. */
export function pathToService(source: Pod, target: ObjectTarget, object: Service, map: ClusterMap): TrafficPath {
  const { spec } = object
  if (spec.type === 'ExternalName')
    return { ...noPath, unchecked: [`what policies and the network do with traffic to ${spec.externalName ?? ''}`] }
  const node = map.topologyOf(source.spec.nodeName ?? '')
  const slices = map.slicesOf(object)
  const families = (['IPv4', 'IPv6'] as const).filter((family) => podAddress(source, family) !== undefined)
  if (spec.clusterIP === 'None') {
    const named = target.port === undefined || typeof target.port === 'string' ? servicePort(object, target) : undefined
    const protocol = named?.protocol ?? target.protocol ?? 'TCP'
    const ofFamilies = slices.filter(({ addressType }) => families.some((family) => family === addressType))
    const port = named ?? (typeof target.port === 'number' ? target.port : 0)
    return throughService(headlessPath(object, port, ofFamilies, node), protocol, false)
  }
  const port = servicePort(object, target)
  const own = (spec.clusterIPs ?? [spec.clusterIP ?? '']).filter((ip) => ip !== '')
  const addresses = own.filter((ip) => families.includes(familyOf(ip)))
  if (addresses.length === 0)
    return {
      ...noPath,
      failures: [`The Service ${keyOf(object)} has no address of the families of pod ${keyOf(source)}.`],
    }
  return joined(
    addresses.map((address) =>
      throughService(proxiedPath(object, port, { address, kind: 'cluster IP' }, slices, node), port.protocol, false),
    ),
  )
}

export const throughService = (
  { chosen, sentences, failure }: ServicePath,
  protocol: Protocol,
  isMasqueraded: boolean,
): TrafficPath => ({
  hops: chosen.map(({ address, port }) => ({ address, port, protocol, isMasqueraded })),
  sentences,
  failures: failure === undefined ? [] : [failure],
  unchecked: [],
})

function servicePort(object: Service, { port, protocol }: ObjectTarget): ServicePort {
  const ports = object.spec.ports ?? []
  const [found, ...more] = ports.filter(
    (each) =>
      (port === undefined || each.port === port || each.name === port) &&
      (protocol === undefined || each.protocol === protocol),
  )
  if (found !== undefined && more.length === 0) return found
  const tcp = [found, ...more].find((each) => port !== undefined && each?.protocol === 'TCP')
  if (tcp !== undefined) return tcp
  const names = ports.map(servicePortText)
  throw new ReachTargetError(
    `name a port of service ${keyOf(object)}, for example :80; it has ${names.length === 0 ? 'no ports' : names.join(', ')}`,
  )
}
