// Which tracked UDP flows a change of routes invalidates: those to endpoints that are gone, and those that were not
// translated because the Service had no endpoints.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import type { Slice, Sliced } from '../../base/work/work-slice.ts'
import type { UdpFlows } from '../../machine/conntrack/conntrack.ts'
import type { PortEndpoint } from '../routing/endpoint-selection.ts'
import type { RoutedService, RouteTarget } from '../routing/service-route.ts'
import { frontendsOf } from './frontends.ts'

/** Each is a call of a program. A list of all flows costs less than more of them. */
export const staleFlowsMax = 64

/** undefined if there are too many: `staleAmong` finds those that exist. */
export function* staleFlows(
  before: RoutedService,
  now: RoutedService,
  nodeAddresses: readonly IpAddress[],
  slice: Slice,
): Sliced<readonly UdpFlows[] | undefined> {
  const remaining = yield* frontendFlows(now, nodeAddresses, slice)
  const known = yield* frontendFlows(before, nodeAddresses, slice)
  const stale: UdpFlows[] = []
  for (const [key, { flows, endpoints }] of known) {
    if (slice.isUsedUp()) yield
    const kept = remaining.get(key)?.endpoints
    if (kept !== undefined && endpoints.every((each) => kept.includes(each))) continue
    for (const [text, endpoint] of endpoints.flatMap((each) => [...each]))
      if (kept?.some((each) => each.has(text)) !== true) {
        if (stale.length === staleFlowsMax) return undefined
        stale.push({ ...flows, endpoint })
      }
  }
  for (const [key, { flows, endpoints }] of remaining) {
    if (slice.isUsedUp()) yield
    // Flows that are not translated are sent to the address itself.
    if (!hasAny(endpoints) || hasAny(known.get(key)?.endpoints ?? [])) continue
    if (stale.length === staleFlowsMax) return undefined
    stale.push({ ...flows, endpoint: { address: flows.address, port: flows.port } })
  }
  return unique(stale)
}

/** An endpoint may be one for traffic from outside and for that of the cluster. */
const unique = (flows: readonly UdpFlows[]): readonly UdpFlows[] => [
  ...new Map(flows.map((each) => [`${endpointText(each)} ${endpointText(each.endpoint)}`, each])).values(),
]

/** Those of the tracked flows that no longer lead to an endpoint of their Service, in whatever way that came about. */
export function* staleAmong(
  tracked: readonly UdpFlows[],
  services: readonly RoutedService[],
  nodeAddresses: readonly IpAddress[],
  slice: Slice,
): Sliced<readonly UdpFlows[]> {
  const frontends = new Map<string, Endpoints[]>()
  for (const service of services)
    for (const { flows, endpoints } of (yield* frontendFlows(service, nodeAddresses, slice)).values()) {
      // Two Services can name the same address; either may have the flow.
      getOrInsert(frontends, endpointText(flows), () => []).push(...endpoints)
      if (slice.isUsedUp()) yield
    }
  const stale: UdpFlows[] = []
  for (const flows of tracked) {
    if (isStale(flows, frontends.get(endpointText(flows)))) stale.push(flows)
    if (slice.isUsedUp()) yield
  }
  return stale
}

function isStale(flows: UdpFlows, endpoints: readonly Endpoints[] | undefined): boolean {
  if (endpoints === undefined) return false
  const isTranslated = endpointText(flows) !== endpointText(flows.endpoint)
  return hasAny(endpoints) ? !endpoints.some((each) => each.has(endpointText(flows.endpoint))) : isTranslated
}

/** By address and port: the same address with another port is another endpoint. */
type Endpoints = ReadonlyMap<string, Pick<PortEndpoint, 'address' | 'port'>>

const hasAny = (endpoints: readonly Endpoints[]): boolean => endpoints.some(({ size }) => size > 0)

interface FrontendFlows {
  readonly flows: Omit<UdpFlows, 'endpoint'> & Pick<PortEndpoint, 'address' | 'port'>
  /** Of each target. */
  readonly endpoints: readonly Endpoints[]
}

/** By the key of the frontend. Frontends with the same target share its endpoints. */
function* frontendFlows(
  { routes }: RoutedService,
  nodeAddresses: readonly IpAddress[],
  slice: Slice,
): Sliced<ReadonlyMap<string, FrontendFlows>> {
  const found = new Map<string, FrontendFlows>()
  for (const route of routes) {
    if (slice.isUsedUp()) yield
    if (route.protocol !== 'UDP') continue
    const ofTargets = new Map<RouteTarget, Endpoints>()
    const endpointsOf = (target: RouteTarget) => getOrInsert(ofTargets, target, () => endpointsIn(target))
    for (const { key, address, port, target, ownTarget } of frontendsOf(route, nodeAddresses))
      found.set(key, {
        flows: { family: route.family, address, port },
        endpoints: [target, ...(ownTarget === undefined ? [] : [ownTarget])].map(endpointsOf),
      })
  }
  return found
}

const endpointsIn = (target: RouteTarget): Endpoints =>
  new Map(
    target.kind === 'endpoints'
      ? target.endpoints.map(({ address, port }) => [endpointText({ address, port }), { address, port }] as const)
      : [],
  )

const endpointText = ({ address, port }: UdpFlows['endpoint']): string => `${address} ${port}`
