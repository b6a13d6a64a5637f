// Which endpoints of a Service port a node routes traffic to: by readiness, termination, topology hints and node.
import type { Endpoint } from '../../api/discovery/v1/endpoint.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import { parseIpSloppy } from '../../base/net/sloppy-address.ts'

/** The node on which the traffic arrives. */
export interface NodeTopology {
  readonly name: string
  readonly zone?: string | undefined
}

/** An endpoint of one port of a Service. */
export interface PortEndpoint {
  readonly address: IpAddress
  readonly port: number
  readonly isReady: boolean
  readonly isServing: boolean
  readonly isTerminating: boolean
  readonly isLocal: boolean
  /** Zones and nodes whose traffic it should serve; empty without hints. */
  readonly hintedZones: readonly string[]
  readonly hintedNodes: readonly string[]
}

export interface SelectedEndpoints {
  /** For traffic that may be routed to any node. */
  readonly cluster: readonly PortEndpoint[]
  /** For traffic that must stay on the node. */
  readonly local: readonly PortEndpoint[]
  /** Whether the Service has usable endpoints anywhere, so that a lack of local ones is temporary or a matter of routing. */
  readonly hasAny: boolean
}

/**
 * As in upstream, an endpoint without a `ready` condition is ready, and one without `serving` serves if it is ready.
 * undefined: its address is not an IP address.
 */
export function portEndpoint(
  { addresses: [text = ''], conditions, nodeName, hints }: Endpoint,
  port: number,
  node: NodeTopology,
): PortEndpoint | undefined {
  const address = parseIpSloppy(text)
  if (address === undefined) return undefined
  const isReady = conditions.ready ?? true
  return {
    address,
    port,
    isReady,
    isServing: conditions.serving ?? isReady,
    isTerminating: conditions.terminating ?? false,
    isLocal: nodeName === node.name,
    hintedZones: (hints?.forZones ?? []).map(({ name }) => name),
    hintedNodes: (hints?.forNodes ?? []).map(({ name }) => name),
  }
}

export function selectEndpoints(endpoints: readonly PortEndpoint[], node: NodeTopology): SelectedEndpoints {
  const ready = endpoints.filter(({ isReady }) => isReady)
  // Endpoints that terminate but still serve are used only when nothing else is left.
  const usable = ready.length > 0 ? ready : endpoints.filter(isServingLast)
  const localReady = ready.filter(({ isLocal }) => isLocal)
  return {
    cluster: nearest(usable, node),
    local: localReady.length > 0 ? localReady : endpoints.filter((each) => each.isLocal && isServingLast(each)),
    hasAny: usable.length > 0,
  }
}

const isServingLast = ({ isServing, isTerminating }: PortEndpoint): boolean => isServing && isTerminating

/**
 * The ready endpoints that are hinted for the node or its zone. Hints apply only if all ready endpoints have them and at
 * least one is hinted here; otherwise all endpoints are used.
 */
function nearest(usable: readonly PortEndpoint[], { name, zone }: NodeTopology): readonly PortEndpoint[] {
  if (usable.some(({ isReady }) => !isReady)) return usable
  if (usable.every(({ hintedNodes }) => hintedNodes.length > 0)) {
    const forNode = usable.filter(({ hintedNodes }) => hintedNodes.includes(name))
    if (forNode.length > 0) return forNode
  }
  if (zone === undefined || !usable.every(({ hintedZones }) => hintedZones.length > 0)) return usable
  const forZone = usable.filter(({ hintedZones }) => hintedZones.includes(zone))
  return forZone.length > 0 ? forZone : usable
}
