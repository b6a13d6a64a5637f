// Which tracked UDP flows a change of routes invalidates: those to endpoints that are gone, and those that were not
// translated because the Service had no endpoints.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { UdpFlows } from '../../machine/conntrack/conntrack.ts'
import type { RoutedService, RouteTarget } from '../routing/service-route.ts'
import { frontendsOf } from './frontends.ts'

export function staleFlows(
  before: RoutedService,
  now: RoutedService,
  nodeAddresses: readonly string[],
): readonly UdpFlows[] {
  const remaining = frontendFlows(now, nodeAddresses)
  const known = frontendFlows(before, nodeAddresses)
  const stale: UdpFlows[] = []
  for (const [key, { flows, endpoints }] of known)
    for (const [text, endpoint] of endpoints)
      if (remaining.get(key)?.endpoints.has(text) !== true) stale.push({ ...flows, endpoint })
  for (const [key, { flows, endpoints }] of remaining)
    // Flows that are not translated are sent to the address itself.
    if (endpoints.size > 0 && (known.get(key)?.endpoints.size ?? 0) === 0)
      stale.push({ ...flows, endpoint: { address: flows.address, port: flows.port } })
  return stale
}

/** Those of the tracked flows that no longer lead to an endpoint of their Service, in whatever way that came about. */
export function staleAmong(
  tracked: readonly UdpFlows[],
  services: Iterable<RoutedService>,
  nodeAddresses: readonly string[],
): readonly UdpFlows[] {
  const frontends = new Map<string, Set<string>>()
  for (const service of services)
    for (const { flows, endpoints } of frontendFlows(service, nodeAddresses).values()) {
      // Two Services can name the same address; either may have the flow.
      const known = getOrInsert(frontends, endpointText(flows), () => new Set<string>())
      for (const endpoint of endpoints.keys()) known.add(endpoint)
    }
  return tracked.filter((flows) => {
    const endpoints = frontends.get(endpointText(flows))
    if (endpoints === undefined) return false
    const isTranslated = endpointText(flows) !== endpointText(flows.endpoint)
    return endpoints.size === 0 ? isTranslated : !endpoints.has(endpointText(flows.endpoint))
  })
}

interface FrontendFlows {
  readonly flows: Omit<UdpFlows, 'endpoint'>
  /** By address and port: the same address with another port is another endpoint. */
  readonly endpoints: ReadonlyMap<string, UdpFlows['endpoint']>
}

/** By the key of the frontend. */
function frontendFlows(
  { routes }: RoutedService,
  nodeAddresses: readonly string[],
): ReadonlyMap<string, FrontendFlows> {
  const found = new Map<string, FrontendFlows>()
  for (const route of routes) {
    if (route.protocol !== 'UDP') continue
    for (const { key, address, port, target, ownTarget } of frontendsOf(route, nodeAddresses))
      found.set(key, {
        flows: { family: route.family, address, port },
        endpoints: new Map([target, ...(ownTarget === undefined ? [] : [ownTarget])].flatMap(endpointsOf)),
      })
  }
  return found
}

const endpointsOf = (target: RouteTarget): readonly (readonly [string, UdpFlows['endpoint']])[] =>
  target.kind === 'endpoints'
    ? target.endpoints.map(({ address, port }) => [endpointText({ address, port }), { address, port }] as const)
    : []

const endpointText = ({ address, port }: UdpFlows['endpoint']): string => `${address} ${port}`
