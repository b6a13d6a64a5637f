// ServicePath: what a Service does with a connection that a pod opens to it: which endpoints are chosen, and why others are not.
import type { Service } from '../../api/core/v1/service/service.ts'
import type { ServicePort } from '../../api/core/v1/service/service-spec.ts'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { keyOf } from '../../api/meta/object.ts'
import { familyOf } from '../../base/net/address-family.ts'
import { joinHostPort } from '../../base/net/host-port.ts'
import { portEndpoint, type NodeTopology, type PortEndpoint } from '../../proxy/routing/endpoint-selection.ts'
import { portEndpoints, routedService, type RouteTarget, type ServiceRoute } from '../../proxy/routing/service-route.ts'
import { plural } from '../why/explainer/explainer.ts'

export interface ServicePath {
  readonly chosen: readonly Pick<PortEndpoint, 'address' | 'port'>[]
  readonly sentences: readonly string[]
  /** What happens to every connection if no endpoint is chosen. */
  readonly failure: string | undefined
}

interface PortName {
  readonly name?: string | undefined
  readonly port: number
  readonly protocol: string
}

/** Endpoints that are described; others are counted. */
const endpointsMax = 10

/** `http (80/TCP)` */
export const servicePortText = ({ name = '', port, protocol }: PortName): string =>
  name === '' ? `${port}/${protocol}` : `${name} (${port}/${protocol})`

/** How the Service is addressed: at its cluster IP, or at an external address. */
export interface ServiceAddress {
  readonly address: string
  readonly kind: 'cluster IP' | 'external IP' | 'load balancer IP' | 'node port'
}

/** The path through the proxy of the node on which the client runs. */
export function proxiedPath(
  object: Service,
  port: ServicePort,
  at: ServiceAddress,
  slices: readonly EndpointSlice[],
  node: NodeTopology,
): ServicePath {
  const family = familyOf(at.address)
  const route = routedService(object, slices, node).routes.find(
    (each) => each.family === family && each.port === port.port && each.protocol === port.protocol,
  )
  if (route === undefined) return otherProxy
  const ofFamily = slices.filter(({ addressType }) => addressType === family)
  const all = portEndpoints(ofFamily, port, node)
  const isInternal = at.kind === 'cluster IP'
  const target = isInternal ? route.internal : route.externalFromCluster
  const isLocal = isInternal && object.spec.internalTrafficPolicy === 'Local'
  const chosen = target.kind === 'endpoints' ? target.endpoints : []
  return {
    chosen,
    sentences: [
      `${addressText(at, port)} of the Service ${keyOf(object)}. ${countText(port, chosen, all, route)}`,
      ...endpointSentences(all, chosen, isLocal),
    ],
    failure: failureText(target, node),
  }
}

const addressText = ({ address, kind }: ServiceAddress, { nodePort = 0 }: ServicePort): string =>
  kind === 'node port' ? `Port ${nodePort} of its node (${address}) is a node port` : `${address} is the ${kind}`

const otherProxy: ServicePath = {
  chosen: [],
  sentences: [],
  failure:
    'The proxy does not route the Service: it has no address of this family, or another proxy is responsible for it.',
}

function countText(
  port: ServicePort,
  chosen: readonly unknown[],
  all: readonly unknown[],
  { affinitySeconds }: ServiceRoute,
): string {
  const which =
    affinitySeconds > 0 ? `a client keeps its own for ${affinitySeconds} s` : 'each connection gets one at random'
  const counted = `Its port ${servicePortText(port)} leads to ${chosen.length} of ${plural(all.length, 'endpoint')}`
  return chosen.length > 1 ? `${counted}; ${which}.` : `${counted}.`
}

function failureText(target: RouteTarget, { name }: NodeTopology): string | undefined {
  switch (target.kind) {
    case 'endpoints':
      return undefined
    case 'reject':
      return 'Connections are refused: the Service has no ready endpoints at this port.'
    case 'drop':
      return `Connections are dropped: the traffic policy of the Service is Local, and it has no ready endpoint on node ${name}.`
    default:
      return target satisfies never
  }
}

function endpointSentences(
  all: readonly PortEndpoint[],
  chosen: readonly PortEndpoint[],
  isLocal: boolean,
): readonly string[] {
  const isChosen = (each: PortEndpoint) =>
    chosen.some(({ address, port }) => address === each.address && port === each.port)
  const left = all.filter((each) => !isChosen(each))
  const described = left
    .slice(0, endpointsMax)
    .map((each) => `Endpoint ${joinHostPort(each.address, each.port)} is not chosen: ${whyNot(each, isLocal)}.`)
  return left.length > endpointsMax
    ? [...described, `${plural(left.length - endpointsMax, 'more endpoint')} are not chosen.`]
    : described
}

function whyNot({ isReady, isServing, isTerminating, isLocal: isHere }: PortEndpoint, isLocal: boolean): string {
  if (isLocal && !isHere) return 'it is on another node, and the internal traffic policy is Local'
  if (isReady) return 'topology hints prefer other endpoints for this node'
  if (isTerminating)
    return isServing ? 'it is terminating, and others are ready' : 'it is terminating and no longer ready'
  return 'it is not ready'
}

/**
 * Clients of a headless Service reach its endpoints directly, at the addresses that DNS returns. `port` is a number, or the
 * port of the Service that the client finds by its name.
 */
export function headlessPath(
  object: Service,
  port: number | ServicePort,
  slices: readonly EndpointSlice[],
  node: NodeTopology,
): ServicePath {
  const all = typeof port === 'number' ? endpointsAt(slices, port, node) : portEndpoints(slices, port, node)
  const ready = all.filter(({ isReady }) => isReady)
  const ofService = object.spec.ports?.find((each) => each.port === port)
  const targets = ofService === undefined ? [] : portEndpoints(slices, ofService, node)
  const other = targets.find((each) => each.port !== port)
  return {
    chosen: ready,
    sentences: [
      `The Service ${keyOf(object)} is headless: DNS returns the addresses of its ${plural(ready.length, 'ready endpoint')}, and clients reach these directly.`,
      ...(ofService === undefined || other === undefined
        ? []
        : [`Its target port has no effect: clients reach port ${ofService.port} of the pods, not ${other.port}.`]),
      ...endpointSentences(all, ready, false),
    ],
    failure: ready.length > 0 ? undefined : 'Its name has no addresses in DNS: the Service has no ready endpoints.',
  }
}

/** All endpoints, at a port that the client chooses. */
function endpointsAt(slices: readonly EndpointSlice[], port: number, node: NodeTopology): readonly PortEndpoint[] {
  const all = slices.flatMap(({ endpoints }) => endpoints ?? []).flatMap((each) => portEndpoint(each, port, node) ?? [])
  return [...new Map(all.map((each) => [each.address, each])).values()]
}
