// Which tracked UDP flows a change of routes invalidates: those to endpoints that are gone, and those that were not
// translated because the Service had no endpoints.
import type { UdpFlows } from '../../machine/conntrack/conntrack.ts'
import type { RoutedService, RouteTarget } from '../routing/service-route.ts'
import { frontendsOf } from './frontends.ts'

export function staleFlows(
  before: RoutedService,
  now: RoutedService,
  nodeAddresses: readonly string[],
): readonly UdpFlows[] {
  const remaining = addressesByFrontend(now, nodeAddresses)
  const known = addressesByFrontend(before, nodeAddresses)
  const stale: UdpFlows[] = []
  for (const [key, { flows, addresses }] of known)
    for (const endpoint of addresses)
      if (remaining.get(key)?.addresses.has(endpoint) !== true) stale.push({ ...flows, endpoint })
  for (const [key, { flows, addresses }] of remaining)
    // The address itself is the destination of flows that are not translated.
    if (addresses.size > 0 && (known.get(key)?.addresses.size ?? 0) === 0)
      stale.push({ ...flows, endpoint: flows.address })
  return stale
}

interface FrontendFlows {
  readonly flows: UdpFlows
  readonly addresses: ReadonlySet<string>
}

function addressesByFrontend(
  { routes }: RoutedService,
  nodeAddresses: readonly string[],
): ReadonlyMap<string, FrontendFlows> {
  const found = new Map<string, FrontendFlows>()
  for (const route of routes) {
    if (route.protocol !== 'UDP') continue
    for (const { key, address, port, target, ownTarget } of frontendsOf(route, nodeAddresses))
      found.set(key, {
        flows: { family: route.family, address, port },
        addresses: new Set([...addressesOf(target), ...(ownTarget === undefined ? [] : addressesOf(ownTarget))]),
      })
  }
  return found
}

const addressesOf = (target: RouteTarget): readonly string[] =>
  target.kind === 'endpoints' ? target.endpoints.map(({ address }) => address) : []
