// ServiceRoute: where a node routes the traffic of one port of a Service, in one address family. It is plain data: the
// nftables rules and the simulated network are derived from it.
import type { Service } from '../../api/core/v1/service/service.ts'
import type { ServicePort } from '../../api/core/v1/service/service-spec.ts'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { headlessLabel } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import { keyOf, type ObjectKey } from '../../api/meta/object.ts'
import { familyOf, type AddressFamily } from '../../base/text/address-family.ts'
import { portEndpoint, selectEndpoints, type NodeTopology, type PortEndpoint } from './endpoint-selection.ts'

export type Protocol = 'SCTP' | 'TCP' | 'UDP'

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
  readonly clusterIp: string
  /** The port at the cluster IP, external IPs and load balancer IPs. */
  readonly port: number
  /** 0 without a node port. */
  readonly nodePort: number
  readonly externalIps: readonly string[]
  readonly loadBalancerIps: readonly string[]
  /** The clients that load balancer IPs accept; empty for all. */
  readonly sourceRanges: readonly string[]
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
}

export const notRouted: RoutedService = { routes: [] }

/** Services with this label are routed by another proxy. */
const otherProxyLabel = 'service.kubernetes.io/service-proxy-name'

/** The routes of a Service on a node. `slices` are the EndpointSlices of this Service. */
export function routedService(object: Service, slices: readonly EndpointSlice[], node: NodeTopology): RoutedService {
  const { spec, metadata } = object
  const clusterIps = (spec.clusterIPs ?? [spec.clusterIP ?? '']).filter((ip) => ip !== '' && ip !== 'None')
  if (spec.type === 'ExternalName' || clusterIps.length === 0 || metadata.labels?.[otherProxyLabel] !== undefined)
    return notRouted
  const usable = slices.filter(({ metadata: { labels } }) => labels?.[headlessLabel] === undefined)
  const routes = clusterIps.flatMap((clusterIp) => {
    const family = familyOf(clusterIp)
    const ofFamily = usable.filter(({ addressType }) => addressType === family)
    return (spec.ports ?? []).map((port) =>
      routeOf(object, port, { clusterIp, family }, portEndpoints(ofFamily, port, node), node),
    )
  })
  const healthCheck = healthCheckOf(object, usable, node)
  return healthCheck === undefined ? { routes } : { routes, healthCheck }
}

function routeOf(
  object: Service,
  port: ServicePort,
  { clusterIp, family }: { readonly clusterIp: string; readonly family: AddressFamily },
  endpoints: readonly PortEndpoint[],
  node: NodeTopology,
): ServiceRoute {
  const { spec, status } = object
  const ofFamily = (address: string) => familyOf(address) === family
  const { cluster, local, hasAny } = selectEndpoints(endpoints, node)
  const target = (policy: string | undefined): RouteTarget => {
    const chosen = policy === 'Local' ? local : cluster
    if (chosen.length > 0) return { kind: 'endpoints', endpoints: chosen }
    return { kind: hasAny ? 'drop' : 'reject' }
  }
  const ingress = spec.type === 'LoadBalancer' ? (status.loadBalancer.ingress ?? []) : []
  return {
    service: keyOf(object),
    portName: port.name ?? '',
    family,
    protocol: port.protocol,
    clusterIp,
    port: port.port,
    nodePort: port.nodePort ?? 0,
    externalIps: (spec.externalIPs ?? []).filter(ofFamily),
    loadBalancerIps: ingress.flatMap(({ ip = '', ipMode }) =>
      ip !== '' && ipMode !== 'Proxy' && ofFamily(ip) ? [ip] : [],
    ),
    sourceRanges: (spec.loadBalancerSourceRanges ?? []).map((range) => range.trim()).filter(ofFamily),
    affinitySeconds: affinitySecondsOf(object),
    preservesClientIp: spec.externalTrafficPolicy === 'Local',
    internal: target(spec.internalTrafficPolicy),
    external: target(spec.externalTrafficPolicy),
    externalFromCluster: target('Cluster'),
  }
}

/** As in upstream, if the API server has not set a timeout. */
const affinitySecondsDefault = 10_800

const affinitySecondsOf = ({ spec: { sessionAffinity, sessionAffinityConfig } }: Service): number =>
  sessionAffinity === 'ClientIP' ? (sessionAffinityConfig?.clientIP?.timeoutSeconds ?? affinitySecondsDefault) : 0

/**
 * The endpoints of one port, in whatever state. An endpoint can be in two slices while it moves between them; the one in
 * the better state is used.
 */
export function portEndpoints(
  slices: readonly EndpointSlice[],
  port: ServicePort,
  node: NodeTopology,
): readonly PortEndpoint[] {
  const found = new Map<string, PortEndpoint>()
  for (const { endpoints, ports } of slices) {
    const number = ports?.find(
      ({ name, protocol }) => (name ?? '') === (port.name ?? '') && (protocol ?? 'TCP') === port.protocol,
    )?.port
    if (number === undefined) continue
    for (const endpoint of endpoints ?? []) {
      const each = portEndpoint(endpoint, number, node)
      const key = `${each.address} ${number}`
      const known = found.get(key)
      if (known === undefined || rank(each) > rank(known)) found.set(key, each)
    }
  }
  return [...found.values()]
}

const rank = ({ isReady, isServing }: PortEndpoint): number => (isReady ? 2 : isServing ? 1 : 0)

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
