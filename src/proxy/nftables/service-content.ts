// The content of the table for one Service: elements of maps and sets, and the chains that they refer to.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { commandText, type CommandText } from '../../base/net/command-text.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import type { Slice, Sliced } from '../../base/work/work-slice.ts'
import type { TableObject } from '../../machine/nftables/table-content.ts'
import type { RoutedService, RouteTarget, ServiceRoute } from '../routing/service-route.ts'
import { frontendsOf, type Frontend } from './frontends.ts'
import { slotId } from './slot-order.ts'
import { stickyChains, type StickyUse } from './sticky-chains.ts'
import { pickChainName, suffixOf } from './table-layout.ts'

export interface ServiceContent {
  readonly elements: Map<CommandText, Map<CommandText, CommandText | ''>>
  readonly objects: Map<CommandText, TableObject>
  /** The elements refer to shared chains for up to this number of endpoints. */
  endpointsMax: number
  /** The number of elements, lines of chains and sets. */
  size: number
  /** Whether the Service has frontends that are left out because the content would be too large. */
  isCut: boolean
}

/** Sets and maps, without the suffix of their family. */
type SetName =
  | 'accepted'
  | 'cluster-ips'
  | 'endpoints'
  | 'firewalled'
  | 'local-policy'
  | 'masqueraded'
  | 'own-endpoints'
  | 'own-services'
  | 'refused'
  | 'services'

export interface ContentOptions {
  /** The addresses of node ports. */
  readonly nodeAddresses: readonly IpAddress[]
  /** Whether the Service is the one that uses a frontend that several Services name. */
  readonly isOwner: (frontend: Frontend) => boolean
}

/** Further endpoints get no traffic from this node. Each number of endpoints needs a chain, so it must be bounded. */
export const endpointsPerTargetMax = 1_024

/** One Service has no more than this in the table, so that a change of it takes the event loop and the kernel little time. */
export const contentSizeMax = 32_768

export const noContent = (): ServiceContent => ({
  elements: new Map(),
  objects: new Map(),
  endpointsMax: 0,
  size: 0,
  isCut: false,
})

export function* serviceContent(
  { routes }: RoutedService,
  { nodeAddresses, isOwner }: ContentOptions,
  slice: Slice,
): Sliced<ServiceContent> {
  const content = noContent()
  const used: (readonly [ServiceRoute, Frontend])[] = []
  const known = new Set<CommandText>()
  for (const route of routes) {
    for (const frontend of frontendsOf(route, nodeAddresses)) {
      if (known.has(frontend.key)) continue
      known.add(frontend.key)
      if (isOwner(frontend)) used.push([route, frontend])
    }
    if (slice.isUsedUp()) yield
  }
  const endpointsMax = endpointsPerTarget(used)
  for (const [route, frontend] of used) {
    if (content.size + sizeOf(frontend, endpointsMax) > contentSizeMax) content.isCut = true
    else addFrontend(content, route, frontend, endpointsMax)
    if (slice.isUsedUp()) yield
  }
  return content
}

/** The maps of which each frontend has a key. */
const elementsPerFrontend = 4

const sizeOf = ({ sourceRanges = [], ownTarget }: Frontend, endpointsMax: number): number =>
  elementsPerFrontend + sourceRanges.length + (ownTarget === undefined ? 1 : 2) * endpointsMax

/** So many that all frontends of the Service have a place. */
function endpointsPerTarget(used: readonly (readonly [ServiceRoute, Frontend])[]): number {
  let targets = 0
  let fixed = 0
  let most = 1
  for (const [route, { sourceRanges = [], target, ownTarget }] of used) {
    // An endpoint of a sticky chain has a set, a chain and four lines.
    const weight = route.affinitySeconds > 0 ? 8 : 1
    fixed += elementsPerFrontend + sourceRanges.length
    for (const each of [target, ownTarget])
      if (each?.kind === 'endpoints') {
        targets += weight
        most = Math.max(most, each.endpoints.length)
      }
  }
  const max = targets === 0 ? endpointsPerTargetMax : Math.floor((contentSizeMax - fixed) / targets)
  return Math.min(Math.max(max, 1), endpointsPerTargetMax, most)
}

function addFrontend(content: ServiceContent, route: ServiceRoute, frontend: Frontend, endpointsMax: number): void {
  const { kind, key, address, target, ownTarget, isMasqueraded, sourceRanges } = frontend
  const add = (set: SetName, element: CommandText) => addElement(content, route, set, element, '')
  if (kind === 'cluster IP') add('cluster-ips', commandText`${address}`)
  if (isMasqueraded) add('masqueraded', key)
  if (sourceRanges !== undefined) {
    add('firewalled', key)
    for (const range of sourceRanges) add('accepted', commandText`${key} . ${range}`)
  }
  const addTargetOf = (each: RouteTarget, use: StickyUse) =>
    addTarget(content, route, frontend, each, use, endpointsMax)
  addTargetOf(target, kind === 'cluster IP' ? 'internal' : 'external')
  if (ownTarget === undefined) return
  add('local-policy', key)
  addTargetOf(ownTarget, 'own')
}

function addElement(
  content: ServiceContent,
  { family }: ServiceRoute,
  set: SetName,
  element: CommandText,
  value: CommandText | '',
): void {
  const elements = getOrInsert(
    content.elements,
    commandText`${set}${suffixOf(family)}`,
    () => new Map<CommandText, CommandText | ''>(),
  )
  elements.set(element, value)
  content.size++
}

function addTarget(
  content: ServiceContent,
  route: ServiceRoute,
  { key }: Frontend,
  target: RouteTarget,
  use: StickyUse,
  endpointsMax: number,
): void {
  const addService = (verdict: CommandText) =>
    addElement(content, route, use === 'own' ? 'own-services' : 'services', key, verdict)
  switch (target.kind) {
    // A Service without endpoints has none for any client.
    case 'reject':
      addElement(content, route, 'refused', key, '')
      return
    case 'drop':
      addService(commandText`drop`)
      return
    case 'endpoints': {
      const endpoints = target.endpoints.slice(0, endpointsMax)
      const sticky = route.affinitySeconds > 0 ? stickyChains(route, use, endpoints) : undefined
      if (sticky !== undefined) {
        addService(commandText`goto ${sticky.chain}`)
        return addObjects(content, sticky.objects)
      }
      content.endpointsMax = Math.max(content.endpointsMax, endpoints.length)
      addService(commandText`goto ${pickChainName(route.family, endpoints.length, use === 'own')}`)
      const slots = use === 'own' ? 'own-endpoints' : 'endpoints'
      for (const [slot, endpoint] of endpoints.entries())
        addElement(content, route, slots, commandText`${key} . ${slot}`, slotId(endpoint))
      return
    }
    default:
      return target satisfies never
  }
}

/** Frontends of one route share its chains. */
function addObjects(content: ServiceContent, objects: ReadonlyMap<CommandText, TableObject>): void {
  for (const [name, object] of objects) {
    if (!content.objects.has(name)) content.size += 1 + object.lines.length
    content.objects.set(name, object)
  }
}

/** The addresses of the Service's endpoints on this node. */
export function localAddressesOf({ routes }: RoutedService): ReadonlySet<IpAddress> {
  const local = new Set<IpAddress>()
  for (const { internal, external, externalFromCluster } of routes)
    for (const target of new Set([internal, external, externalFromCluster]))
      if (target.kind === 'endpoints')
        for (const { address, isLocal } of target.endpoints) if (isLocal) local.add(address)
  return local
}
