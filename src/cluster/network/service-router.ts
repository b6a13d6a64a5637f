// ServiceRouter: where a connection goes that a client opens to an address: to an endpoint of a Service by the routes of
// a node, as kube-proxy decides it, or to the address itself.
import type { Clock } from '../../base/time/clock.ts'
import type { Random } from '../../base/random/random.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { keyOf, type ObjectKey } from '../../api/meta/object.ts'
import { cidrHasAddress } from '../../base/net/cidr.ts'
import { parseIp } from '../../base/net/ip-address.ts'
import { familyOf } from '../../base/net/address-family.ts'
import type { NetworkHost } from '../../machine/network/link-faults.ts'
import type { RoutedService, RouteTarget, ServiceRoute } from '../../proxy/routing/service-route.ts'
import { SessionAffinity } from './session-affinity.ts'

export type Routing =
  /** No Service has the address and port. */
  | { readonly kind: 'direct' }
  /** `sourceAddress` is what the endpoint sees. */
  | {
      readonly kind: 'endpoint'
      readonly service: ObjectKey
      readonly address: string
      readonly port: number
      readonly sourceAddress: string
    }
  /** There is no endpoint: the client is refused immediately. */
  | { readonly kind: 'rejected'; readonly service: ObjectKey }
  /** Packets are dropped: the client waits for its timeout. */
  | { readonly kind: 'dropped'; readonly service: ObjectKey }
  /** The address is not reachable from outside the cluster. */
  | { readonly kind: 'unreachable' }

export interface RouterDeps {
  readonly clock: Clock
  readonly random: Random
  /** The Services that have this cluster IP, external IP or load balancer IP. */
  readonly servicesAt: (address: string) => readonly Service[]
  readonly servicesAtNodePort: (port: number) => readonly Service[]
  readonly routesOf: (service: Service, node: string) => RoutedService
  /** The node with this address. */
  readonly nodeAt: (address: string) => RouterNode | undefined
  readonly addressOf: (node: string) => string
  /** The nodes that are on. */
  readonly nodes: () => readonly RouterNode[]
}

export interface RouterNode {
  readonly name: string
  readonly address: string
}

export class ServiceRouter {
  readonly #deps: RouterDeps
  readonly #affinity: SessionAffinity

  constructor(deps: RouterDeps) {
    this.#deps = deps
    this.#affinity = new SessionAffinity(deps.clock)
  }

  route(client: NetworkHost, address: string, port: number): Routing {
    const node = this.#deps.nodeAt(address)
    const atNode = node === undefined ? undefined : this.#atNodePort(client, node, port)
    if (atNode !== undefined && atNode.kind !== 'direct') return atNode
    const services = this.#deps.servicesAt(address)
    // A Service that names the cluster IP of another one as its external IP does not get its traffic.
    const owner = services.find(({ spec }) => spec.clusterIPs?.includes(address) ?? spec.clusterIP === address)
    if (owner !== undefined) return this.#atClusterIp(client, owner, address, port)
    for (const service of services) {
      const routing = this.#atExternalIp(client, service, address, port, node)
      if (routing !== undefined) return routing
    }
    return { kind: 'direct' }
  }

  #atClusterIp(client: NetworkHost, service: Service, address: string, port: number): Routing {
    if (client.node === '') return { kind: 'unreachable' }
    const route = this.#routes(service, client.node).find((each) => each.clusterIp === address && each.port === port)
    // As kube-proxy with nftables: a port that the Service does not have is refused.
    if (route === undefined) return { kind: 'rejected', service: keyOf(service) }
    const node = this.#node(client.node)
    return this.#to(route, route.internal, client, node, (endpoint) =>
      // A pod that reaches itself must not see its own address, or its replies would not pass the node.
      endpoint === client.address ? node.address : client.address,
    )
  }

  #atNodePort(client: NetworkHost, node: RouterNode, port: number): Routing {
    for (const service of this.#deps.servicesAtNodePort(port)) {
      const route = this.#routes(service, node.name).find(
        (each) => each.nodePort === port && each.family === familyOf(node.address),
      )
      if (route !== undefined) return this.#external(route, client, node)
    }
    return { kind: 'direct' }
  }

  /** Undefined when the Service does not have the port. `owner` is the node that has the address, if one has. */
  #atExternalIp(
    client: NetworkHost,
    service: Service,
    address: string,
    port: number,
    owner: RouterNode | undefined,
  ): Routing | undefined {
    const isBalanced = (route: ServiceRoute) => route.loadBalancerIps.some((each) => each === address)
    const isAtAddress = (route: ServiceRoute) =>
      route.port === port && (isBalanced(route) || route.externalIps.some((each) => each === address))
    const node = client.node === '' ? (owner ?? this.#balancedNode(service, isAtAddress)) : this.#node(client.node)
    if (node === undefined) return { kind: 'dropped', service: keyOf(service) }
    const route = this.#routes(service, node.name).find(isAtAddress)
    if (route === undefined) return undefined
    const isRefused = isBalanced(route) && !acceptsClient(route, client)
    return isRefused ? { kind: 'dropped', service: route.service } : this.#external(route, client, node)
  }

  /** The node to which a load balancer sends a connection: with the policy `Local` one that has endpoints. */
  #balancedNode(service: Service, isMeant: (route: ServiceRoute) => boolean): RouterNode | undefined {
    const nodes = this.#deps.nodes()
    const healthy = nodes.filter(({ name }) =>
      this.#routes(service, name).some(
        (route) => isMeant(route) && (!route.preservesClientIp || route.external.kind === 'endpoints'),
      ),
    )
    return healthy.length === 0 ? nodes[0] : healthy[this.#deps.random.below(healthy.length)]
  }

  #external(route: ServiceRoute, client: NetworkHost, node: RouterNode): Routing {
    const target = client.node === node.name ? route.externalFromCluster : route.external
    return this.#to(route, target, client, node, () => (route.preservesClientIp ? client.address : node.address))
  }

  #to(
    route: ServiceRoute,
    target: RouteTarget,
    client: NetworkHost,
    node: RouterNode,
    sourceOf: (endpoint: string) => string,
  ): Routing {
    const { service } = route
    switch (target.kind) {
      case 'reject':
        return { kind: 'rejected', service }
      case 'drop':
        return { kind: 'dropped', service }
      case 'endpoints': {
        const { address, port } = this.#choose(route, target.endpoints, `${node.name} ${client.address}`)
        return { kind: 'endpoint', service, address, port, sourceAddress: sourceOf(address) }
      }
      default:
        return target satisfies never
    }
  }

  #choose<E extends { readonly address: string; readonly port: number }>(
    { service, portName, affinitySeconds }: ServiceRoute,
    endpoints: readonly E[],
    client: string,
  ): E {
    const any = endpoints[this.#deps.random.below(endpoints.length)] as E
    if (affinitySeconds === 0) return any
    const key = `${service} ${portName} ${client}`
    const last = this.#affinity.endpointOf(key, affinitySeconds)
    const chosen = endpoints.find((endpoint) => textOf(endpoint) === last) ?? any
    this.#affinity.remember(key, textOf(chosen))
    return chosen
  }

  #routes(service: Service, node: string): readonly ServiceRoute[] {
    return this.#deps.routesOf(service, node).routes.filter(({ protocol }) => protocol === 'TCP')
  }

  #node(name: string): RouterNode {
    return { name, address: this.#deps.addressOf(name) }
  }
}

const textOf = ({ address, port }: { readonly address: string; readonly port: number }): string => `${address} ${port}`

/** Source ranges restrict all clients except the nodes themselves. */
function acceptsClient({ sourceRanges }: ServiceRoute, { address, pod, node }: NetworkHost): boolean {
  if (sourceRanges === undefined || (node !== '' && pod === '')) return true
  const client = parseIp(address)
  return client !== undefined && sourceRanges.some((range) => cidrHasAddress(range, client))
}
