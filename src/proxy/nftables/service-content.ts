// The content of the table for one Service: elements of maps and sets, and the chains that they refer to.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { TableContent } from '../../machine/nftables/table-content.ts'
import type { PortEndpoint } from '../routing/endpoint-selection.ts'
import type { RoutedService, RouteTarget, ServiceRoute } from '../routing/service-route.ts'
import { frontendsOf, type Frontend } from './frontends.ts'
import { slotId } from './slot-order.ts'
import { stickyChains, type StickyUse } from './sticky-chains.ts'
import { pickChainName, suffixOf } from './table-layout.ts'

export interface ServiceContent extends TableContent {
  /** The elements refer to shared chains for up to this number of endpoints. */
  endpointsMax: number
}

export interface ContentOptions {
  /** The addresses of node ports. */
  readonly nodeAddresses: readonly string[]
  /** Whether the Service is the one that uses a frontend that several Services name. */
  readonly isOwner: (frontend: string) => boolean
}

export function serviceContent({ routes }: RoutedService, { nodeAddresses, isOwner }: ContentOptions): ServiceContent {
  const content: ServiceContent = { elements: new Map(), objects: new Map(), endpointsMax: 0 }
  for (const route of routes)
    for (const frontend of frontendsOf(route, nodeAddresses))
      if (!frontend.isShareable || isOwner(frontend.key)) addFrontend(content, route, frontend)
  return content
}

function addFrontend(content: ServiceContent, route: ServiceRoute, frontend: Frontend): void {
  const { key, address, target, ownTarget, isMasqueraded, isClusterIp, sourceRanges } = frontend
  const suffix = suffixOf(route.family)
  const add = (set: string, element: string, value = '') =>
    void getOrInsert(content.elements, `${set}${suffix}`, () => new Map<string, string>()).set(element, value)
  if (isClusterIp) add('cluster-ips', address)
  if (isMasqueraded) add('masqueraded', key)
  if (sourceRanges !== undefined) {
    add('firewalled', key)
    for (const range of sourceRanges) add('accepted', `${key} . ${range}`)
  }
  addTarget(content, route, frontend, target, isClusterIp ? 'internal' : 'external')
  if (ownTarget === undefined) return
  add('local-policy', key)
  addTarget(content, route, frontend, ownTarget, 'own')
}

/** Further endpoints get no traffic from this node. Each number of endpoints needs a chain, so it must be bounded. */
export const endpointsPerTargetMax = 1_024

function addTarget(
  content: ServiceContent,
  route: ServiceRoute,
  { key }: Frontend,
  target: RouteTarget,
  use: StickyUse,
): void {
  const suffix = suffixOf(route.family)
  const set = (name: string) =>
    getOrInsert(content.elements, `${use === 'own' ? 'own-' : ''}${name}${suffix}`, () => new Map<string, string>())
  switch (target.kind) {
    // A Service without endpoints has none for any client.
    case 'reject':
      getOrInsert(content.elements, `refused${suffix}`, () => new Map<string, string>()).set(key, '')
      return
    case 'drop':
      set('services').set(key, 'drop')
      return
    case 'endpoints': {
      const endpoints = target.endpoints.slice(0, endpointsPerTargetMax)
      set('services').set(key, `goto ${chainFor(content, route, endpoints, use)}`)
      if (route.affinitySeconds > 0) return
      const slots = set('endpoints')
      for (const [slot, endpoint] of endpoints.entries()) slots.set(`${key} . ${slot}`, slotId(endpoint))
      return
    }
    default:
      return target satisfies never
  }
}

function chainFor(
  content: ServiceContent,
  route: ServiceRoute,
  endpoints: readonly PortEndpoint[],
  use: StickyUse,
): string {
  if (route.affinitySeconds === 0) {
    content.endpointsMax = Math.max(content.endpointsMax, endpoints.length)
    return pickChainName(route.family, endpoints.length, use === 'own')
  }
  const { chain, objects } = stickyChains(route, use, endpoints)
  for (const [name, object] of objects) content.objects.set(name, object)
  return chain
}

/** The addresses of the Service's endpoints on this node. */
export function localAddressesOf({ routes }: RoutedService): ReadonlySet<string> {
  const local = new Set<string>()
  for (const { internal, external, externalFromCluster } of routes)
    for (const target of [internal, external, externalFromCluster])
      if (target.kind === 'endpoints')
        for (const { address, isLocal } of target.endpoints) if (isLocal) local.add(address)
  return local
}
