// ServiceRoute: where a node routes the traffic of one port of a Service, in one address family. It is plain data: the
// nftables rules and the simulated network are derived from it.
import type { Service } from '../../api/core/v1/service/service.ts'
import type { ServicePort } from '../../api/core/v1/service/service-spec.ts'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { headlessLabel } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import { keyOf, type ObjectKey } from '../../api/meta/object.ts'
import { isUnicastAddress } from '../../base/net/address-kind.ts'
import { disjointCidrs } from '../../base/net/disjoint-ranges.ts'
import type { Cidr } from '../../base/net/cidr.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import { parsePort } from '../../base/net/port.ts'
import { parseCidrSloppy, parseIpsSloppy } from '../../base/net/sloppy-address.ts'
import { familyOf, type AddressFamily } from '../../base/net/address-family.ts'
import { runToEnd, type Slice, type Sliced } from '../../base/work/work-slice.ts'
import { selectEndpoints, type NodeTopology, type PortEndpoint, type SelectedEndpoints } from './endpoint-selection.ts'
import { ServiceEndpoints, type PortIdentity } from './service-endpoints.ts'

const protocols = ['SCTP', 'TCP', 'UDP'] as const
export type Protocol = (typeof protocols)[number]

/** What happens to a new connection. */
export type RouteTarget =
  | { readonly kind: 'endpoints'; readonly endpoints: readonly PortEndpoint[] }
  /** The Service has no endpoints: the client is refused immediately. */
  | { readonly kind: 'reject' }
  /** The Service has endpoints on other nodes only, and its policy keeps the traffic on this node. */
  | { readonly kind: 'drop' }

export interface ServiceRoute {
  readonly service: ObjectKey
  readonly portName: string
  readonly family: AddressFamily
  readonly protocol: Protocol
  readonly clusterIp: IpAddress
  /** The port at the cluster IP, external IPs and load balancer IPs. */
  readonly port: number
  /** 0 without a node port. */
  readonly nodePort: number
  readonly externalIps: readonly IpAddress[]
  readonly loadBalancerIps: readonly IpAddress[]
  /** The clients that load balancer IPs accept, without overlaps; undefined for all. */
  readonly sourceRanges?: readonly Cidr[]
  /** For how long a client keeps its endpoint; 0 without session affinity. */
  readonly affinitySeconds: number
  /** Whether external traffic keeps its source address (external traffic policy `Local`). */
  readonly preservesClientIp: boolean
  /** Traffic to the cluster IP. */
  readonly internal: RouteTarget
  /** Traffic from outside the cluster to node ports, external IPs and load balancer IPs. */
  readonly external: RouteTarget
  /**
   * Traffic from this node and its pods to external addresses: with the policy `Local`, it is routed as if the policy were
   * `Cluster`, as in upstream.
   */
  readonly externalFromCluster: RouteTarget
}

/** The health check of a load balancer: whether this node has endpoints of the Service. */
export interface ServiceHealthCheck {
  readonly service: ObjectKey
  readonly port: number
  readonly localEndpoints: number
}

export interface RoutedService {
  readonly routes: readonly ServiceRoute[]
  readonly healthCheck?: ServiceHealthCheck
  /** Of two Services that name the same address, the older one uses it. */
  readonly creationTimestamp: string
  readonly uid: string
  /** What of the Service is not routed because it has too many ports, endpoints or addresses. */
  readonly cut?: string
}

export const notRouted: RoutedService = { routes: [], creationTimestamp: '', uid: '' }

/** Services with this label are routed by another proxy. */
const otherProxyLabel = 'service.kubernetes.io/service-proxy-name'

/** Ports times external addresses of one Service and family. Further addresses are not routed. */
export const portAddressesMax = 16_384
/** Further ranges are not accepted. */
export const sourceRangesMax = 1_024

/** The routes of a Service on a node. `slices` are the EndpointSlices of this Service. */
export const routedService = (object: Service, slices: readonly EndpointSlice[], node: NodeTopology): RoutedService =>
  runToEnd((time) => routedServiceInSlices(object, slices, node, time))

export function* routedServiceInSlices(
  object: Service,
  slices: readonly EndpointSlice[],
  node: NodeTopology,
  time: Slice,
): Sliced<RoutedService> {
  const { spec, metadata } = object
  const clusterIps = addressesIn(spec.clusterIPs ?? [spec.clusterIP ?? ''])
  if (spec.type === 'ExternalName' || clusterIps.length === 0 || metadata.labels?.[otherProxyLabel] !== undefined)
    return notRouted
  const usable = slices.filter(({ metadata: { labels } }) => labels?.[headlessLabel] === undefined)
  const ports = (spec.ports ?? []).filter(isRoutable)
  const cuts: string[] = []
  const routes: ServiceRoute[] = []
  for (const clusterIp of clusterIps) {
    const family = familyOf(clusterIp)
    const ofFamily = usable.filter(({ addressType }) => addressType === family)
    const endpoints = yield* ServiceEndpoints.read(ofFamily, node, ports.length, time)
    if (endpoints.isCut) cuts.push(`${endpoints.perPortMax} endpoints of each port`)
    const shared = { ...sharedRoute(object, family, ports.length, cuts), clusterIp }
    for (const port of ports) {
      routes.push(routeOf(object, port, shared, selectEndpoints(endpoints.of(port), node)))
      if (time.isUsedUp()) yield
    }
  }
  const healthCheck = healthCheckOf(object, usable, node)
  return {
    routes,
    creationTimestamp: metadata.creationTimestamp ?? '',
    uid: metadata.uid ?? '',
    ...(healthCheck === undefined ? {} : { healthCheck }),
    ...(cuts.length === 0 ? {} : { cut: `only ${[...new Set(cuts)].join(' and ')} are used` }),
  }
}

const isRoutable = ({ port, nodePort = 0, protocol }: ServicePort): boolean =>
  parsePort(port) !== undefined &&
  (nodePort === 0 || parsePort(nodePort) !== undefined) &&
  protocols.some((known) => known === protocol)

/** Texts that are no addresses of a machine are ignored: `None`, for example. */
const addressesIn = (texts: readonly string[]): readonly IpAddress[] => parseIpsSloppy(texts).filter(isUnicastAddress)

type SharedRoute = Pick<
  ServiceRoute,
  | 'affinitySeconds'
  | 'clusterIp'
  | 'externalIps'
  | 'family'
  | 'loadBalancerIps'
  | 'preservesClientIp'
  | 'service'
  | 'sourceRanges'
>

/** What the routes of all ports have in common. */
function sharedRoute(
  object: Service,
  family: AddressFamily,
  ports: number,
  cuts: string[],
): Omit<SharedRoute, 'clusterIp'> {
  const { spec, status } = object
  const ofFamily = (address: string) => familyOf(address) === family
  const ingress = spec.type === 'LoadBalancer' ? (status.loadBalancer.ingress ?? []) : []
  const balanced = ingress.flatMap(({ ip = '', ipMode }) => (ipMode === 'Proxy' ? [] : [ip]))
  const max = Math.floor(portAddressesMax / Math.max(1, ports))
  const loadBalancerIps = addressesIn(balanced).filter(ofFamily)
  const externalIps = addressesIn(spec.externalIPs ?? []).filter(ofFamily)
  if (loadBalancerIps.length + externalIps.length > max) cuts.push(`${max} external addresses`)
  const ranges = sourceRangesOf(spec.loadBalancerSourceRanges ?? [], family)
  if (ranges !== undefined && ranges.length > sourceRangesMax) cuts.push(`${sourceRangesMax} source ranges`)
  return {
    service: keyOf(object),
    family,
    externalIps: externalIps.slice(0, Math.max(0, max - loadBalancerIps.length)),
    loadBalancerIps: loadBalancerIps.slice(0, max),
    ...(ranges === undefined ? {} : { sourceRanges: ranges.slice(0, sourceRangesMax) }),
    affinitySeconds: affinitySecondsOf(object),
    preservesClientIp: spec.externalTrafficPolicy === 'Local',
  }
}

/** Ranges of the other family do not restrict the clients of this one, as in upstream. A text that is no range does. */
function sourceRangesOf(texts: readonly string[], family: AddressFamily): readonly Cidr[] | undefined {
  const ranges = texts.map((text) => parseCidrSloppy(text.trim()))
  const known = ranges.filter((range) => range !== undefined).filter((range) => familyOf(range) === family)
  return known.length === 0 && !ranges.includes(undefined) ? undefined : disjointCidrs(known)
}

function routeOf(
  { spec }: Service,
  port: ServicePort,
  shared: SharedRoute,
  { cluster, local, hasAny }: SelectedEndpoints,
): ServiceRoute {
  const targetOf = (endpoints: readonly PortEndpoint[]): RouteTarget =>
    endpoints.length > 0 ? { kind: 'endpoints', endpoints } : { kind: hasAny ? 'drop' : 'reject' }
  const anywhere = targetOf(cluster)
  const target = (policy: string | undefined) => (policy === 'Local' ? targetOf(local) : anywhere)
  return {
    ...shared,
    portName: port.name ?? '',
    protocol: port.protocol,
    port: port.port,
    nodePort: port.nodePort ?? 0,
    internal: target(spec.internalTrafficPolicy),
    external: target(spec.externalTrafficPolicy),
    externalFromCluster: anywhere,
  }
}

/** As in upstream, if the API server has not set a timeout. */
const affinitySecondsDefault = 10_800

const affinitySecondsOf = ({ spec: { sessionAffinity, sessionAffinityConfig } }: Service): number =>
  sessionAffinity === 'ClientIP' ? (sessionAffinityConfig?.clientIP?.timeoutSeconds ?? affinitySecondsDefault) : 0

/** The endpoints of one port, in whatever state. */
export const portEndpoints = (
  slices: readonly EndpointSlice[],
  port: PortIdentity,
  node: NodeTopology,
): readonly PortEndpoint[] => runToEnd((time) => ServiceEndpoints.read(slices, node, 1, time)).of(port)

/** Counts the ready endpoints of this node by address: the check is about the Service, not about one of its ports. */
function healthCheckOf(
  object: Service,
  slices: readonly EndpointSlice[],
  node: NodeTopology,
): ServiceHealthCheck | undefined {
  const port = object.spec.healthCheckNodePort ?? 0
  if (port === 0) return undefined
  const local = slices
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter(({ nodeName, conditions }) => nodeName === node.name && (conditions.ready ?? true))
  return { service: keyOf(object), port, localEndpoints: new Set(local.map(({ addresses }) => addresses[0])).size }
}
