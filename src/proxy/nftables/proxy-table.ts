// ProxyTable: the desired content of the table, and the transactions that lead to it. A transaction depends on the changed
// Services only. Whether the kernel has the content is not known here: if it may not, the caller applies all of it.
// A Service can have thousands of ports, so the methods work in slices; one must have returned before the next is called.
import type { ObjectKey } from '../../api/meta/object.ts'
import { commandText, type CommandText } from '../../base/net/command-text.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import { familyOf } from '../../base/net/address-family.ts'
import type { Slice, Sliced } from '../../base/work/work-slice.ts'
import {
  contentCommands,
  contentDiff,
  diffCommands,
  noDiff,
  type ContentDiff,
  type Elements,
} from '../../machine/nftables/table-content.ts'
import type { RouteChange } from '../routing/route-table.ts'
import { notRouted, type RoutedService, type RouteTarget, type ServiceRoute } from '../routing/service-route.ts'
import { FrontendClaims } from './frontend-claims.ts'
import { frontendsOf, type Frontend } from './frontends.ts'
import { localAddressesOf, noContent, serviceContent, type ServiceContent } from './service-content.ts'
import { inSlots } from './slot-order.ts'
import { layoutCommands, suffixOf, table, type LayoutOptions } from './table-layout.ts'

export interface ProxyTableOptions extends LayoutOptions {
  /** The addresses of node ports. */
  readonly nodeAddresses: readonly IpAddress[]
}

/** Doubled, by replacing the table, when a Service has more endpoints. */
const endpointsMaxInitial = 16

export class ProxyTable {
  readonly #options: ProxyTableOptions
  /** The routes of each Service, with endpoints in the order of their slots. */
  readonly #services = new Map<ObjectKey, RoutedService>()
  readonly #claims: FrontendClaims
  /** The number of Services with each endpoint address of this node. */
  readonly #localAddresses = new Map<IpAddress, number>()
  /** The table has chains for Services with up to this number of endpoints. */
  #endpointsMax = endpointsMaxInitial
  /** Services with frontends that are left out. */
  readonly #cut = new Set<ObjectKey>()

  constructor(options: ProxyTableOptions) {
    this.#options = options
    this.#claims = new FrontendClaims(options.nodeAddresses)
  }

  /** The Services that are routed. */
  get services(): ReadonlyMap<ObjectKey, RoutedService> {
    return this.#services
  }

  /**
   * Updates the content. Returns the commands that change the kernel's from the content before, or undefined if the table
   * must be replaced.
   */
  *change(
    changes: readonly Pick<RouteChange, 'service' | 'now'>[],
    slice: Slice,
  ): Sliced<readonly CommandText[] | undefined> {
    const changed = new Map<ObjectKey, RoutedService>()
    for (const { service, now } of changes) changed.set(service, yield* this.#inSlots(service, now, slice))
    // A Service that gets a frontend which another one gives up, or loses one to another, changes as well.
    const affected = [...changed.keys(), ...(yield* this.#claims.affectedBy(changed, slice))]
    const before = yield* this.#contentsOf(affected, slice)
    const diff = noDiff()
    for (const [service, now] of changed) yield* this.#replace(service, now, diff, slice)
    const now = yield* this.#contentsOf(affected, slice)
    for (const [index, content] of now.entries()) yield* contentDiff(before[index] ?? noContent(), content, diff, slice)
    if (!this.#hasChainsFor(now)) return undefined
    if (slice.isUsedUp()) yield
    return [...diffCommands(table, diff)]
  }

  /** Updates the content without the commands of the changes, for a table that is to be replaced. */
  *update(changes: Iterable<readonly [ObjectKey, RoutedService]>, slice: Slice): Sliced<void> {
    for (const [service, now] of changes)
      yield* this.#replace(service, yield* this.#inSlots(service, now, slice), noDiff(), slice)
  }

  /** Commands that replace the table by one with these Services only. */
  *all(services: Iterable<ObjectKey>, slice: Slice): Sliced<readonly CommandText[]> {
    const contents = yield* this.#contentsOf(services, slice)
    this.#hasChainsFor(contents)
    const hairpins: Elements = new Map()
    for (const address of this.#localAddresses.keys()) addHairpin(hairpins, address)
    const all = [...contents, { elements: hairpins, objects: new Map() }]
    const commands = [...layoutCommands(this.#options, this.#endpointsMax)]
    for (const command of contentCommands(table, all)) {
      commands.push(command)
      if (slice.isUsedUp()) yield
    }
    return commands
  }

  /** The sets of clients of Services with session affinity. */
  *clientSets(slice: Slice): Sliced<readonly CommandText[]> {
    const sets: CommandText[] = []
    for (const [service, { routes }] of this.#services) {
      if (routes.every(({ affinitySeconds }) => affinitySeconds === 0)) continue
      const { objects } = yield* this.#contentOf(service, slice)
      for (const [name, { kind }] of objects) if (kind === 'set') sets.push(name)
    }
    return sets
  }

  /** What of the Service gets no traffic, and why; undefined if all of it does. */
  *problemOf(service: ObjectKey, slice: Slice): Sliced<string | undefined> {
    const routed = this.#services.get(service)
    if (routed === undefined) return undefined
    for (const route of routed.routes) {
      for (const frontend of frontendsOf(route, this.#options.nodeAddresses)) {
        const owner = this.#claims.ownerOf(frontend)
        if (owner !== service) return `the ${frontend.kind} ${frontend.address} is used by the Service ${owner ?? ''}`
      }
      if (slice.isUsedUp()) yield
    }
    return this.#cut.has(service) ? 'it has too many ports and addresses' : routed.cut
  }

  /** If not, the next table that replaces this one has them. */
  #hasChainsFor(contents: readonly ServiceContent[]): boolean {
    const needed = contents.reduce((most, { endpointsMax }) => Math.max(most, endpointsMax), 0)
    if (needed <= this.#endpointsMax) return true
    while (this.#endpointsMax < needed) this.#endpointsMax *= 2
    return false
  }

  #inSlots(service: ObjectKey, now: RoutedService, slice: Slice): Sliced<RoutedService> {
    return inSlotsOf(this.#services.get(service) ?? notRouted, now, slice)
  }

  *#replace(service: ObjectKey, now: RoutedService, diff: ContentDiff, slice: Slice): Sliced<void> {
    const before = this.#services.get(service) ?? notRouted
    if (now.routes.length === 0) this.#services.delete(service)
    else this.#services.set(service, now)
    yield* this.#claims.replace(service, now, slice)
    const localBefore = localAddressesOf(before)
    const localNow = localAddressesOf(now)
    for (const address of localNow)
      if (!localBefore.has(address) && this.#count(address, 1) === 1) addHairpin(diff.added, address)
    for (const address of localBefore)
      if (!localNow.has(address) && this.#count(address, -1) === 0) addHairpin(diff.removed, address)
  }

  /** The number of Services with the address afterwards. */
  #count(address: IpAddress, step: 1 | -1): number {
    const count = (this.#localAddresses.get(address) ?? 0) + step
    if (count === 0) this.#localAddresses.delete(address)
    else this.#localAddresses.set(address, count)
    return count
  }

  *#contentsOf(services: Iterable<ObjectKey>, slice: Slice): Sliced<readonly ServiceContent[]> {
    const contents: ServiceContent[] = []
    for (const service of services) contents.push(yield* this.#contentOf(service, slice))
    return contents
  }

  *#contentOf(service: ObjectKey, slice: Slice): Sliced<ServiceContent> {
    this.#cut.delete(service)
    const routed = this.#services.get(service)
    if (routed === undefined) return noContent()
    const isOwner = (frontend: Frontend) => this.#claims.ownerOf(frontend) === service
    const content = yield* serviceContent(routed, { nodeAddresses: this.#options.nodeAddresses, isOwner }, slice)
    if (content.isCut) this.#cut.add(service)
    return content
  }
}

function addHairpin(elements: Elements, address: IpAddress): void {
  const set = commandText`hairpin${suffixOf(familyOf(address))}`
  const known = elements.get(set)
  const key = commandText`${address} . ${address}`
  if (known === undefined) elements.set(set, new Map([[key, '']]))
  else known.set(key, '')
}

/** The routes, with endpoints in the slots that they had before. */
function* inSlotsOf(before: RoutedService, now: RoutedService, slice: Slice): Sliced<RoutedService> {
  const idOf = ({ portName, family, protocol }: ServiceRoute) => `${portName} ${family} ${protocol}`
  const known = new Map(before.routes.map((route) => [idOf(route), route]))
  const routes: ServiceRoute[] = []
  for (const route of now.routes) {
    const earlier = known.get(idOf(route))
    routes.push(earlier === undefined ? route : routeInSlots(earlier, route))
    if (slice.isUsedUp()) yield
  }
  return { ...now, routes }
}

function routeInSlots(before: ServiceRoute, now: ServiceRoute): ServiceRoute {
  const externalFromCluster = targetInSlots(before.externalFromCluster, now.externalFromCluster)
  // Most targets are the same one.
  const inOrder = (use: 'external' | 'internal') =>
    now[use] === now.externalFromCluster && before[use] === before.externalFromCluster
      ? externalFromCluster
      : targetInSlots(before[use], now[use])
  return { ...now, internal: inOrder('internal'), external: inOrder('external'), externalFromCluster }
}

const targetInSlots = (before: RouteTarget, now: RouteTarget): RouteTarget =>
  before.kind === 'endpoints' && now.kind === 'endpoints'
    ? { kind: 'endpoints', endpoints: inSlots(before.endpoints, now.endpoints) }
    : now
