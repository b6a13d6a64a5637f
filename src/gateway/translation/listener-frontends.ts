// The ports of the data plane for the served listeners. A request is served by the routes of the listener with the most
// specific hostname only. Pure.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Slice, Sliced } from '../../base/work/work-slice.ts'
import type { FrontendSpec } from '../../ingress/data-plane/frontends.ts'
import { HostIndex } from '../../ingress/routing/host-index.ts'
import { routeHostOf } from '../../ingress/routing/route.ts'
import type { RouteFinder, RouteTable } from '../../ingress/routing/route-table.ts'
import type { KeyPair } from '../../platform/http/listener.ts'
import type { ServedListener } from '../attachment/listener-verdict.ts'
import type { AttachedRoute, ListenerTables } from './listener-tables.ts'

export interface ListenerRoutes {
  readonly listener: ServedListener
  readonly routes: readonly AttachedRoute[]
}

export interface Binding {
  /** The address of the data plane, which Ingresses have too. */
  readonly mainAddress: string | undefined
  /** The port that is opened for a port of listeners. */
  boundPort(port: number): number
}

/** The place of a port of listeners in the data plane. */
export function frontendPlace(
  address: string | undefined,
  port: number,
  mainAddress: string | undefined,
): Pick<FrontendSpec, 'name' | 'host' | 'port'> {
  const host = address === mainAddress ? undefined : address
  return { name: `gateway ${address ?? ''} ${port}`, port, ...(host === undefined ? {} : { host }) }
}

export function* listenerFrontends(
  listeners: readonly ListenerRoutes[],
  tables: ListenerTables,
  { mainAddress, boundPort }: Binding,
  slice: Slice,
): Sliced<readonly FrontendSpec[]> {
  const byPlace = new Map<string, PlacedTables>()
  for (const { listener, routes } of listeners) {
    const table = tables.of(listener.listener, routes)
    for (const address of listener.addresses.length === 0 ? [undefined] : listener.addresses) {
      const place = frontendPlace(address, listener.listener.port, mainAddress)
      getOrInsert(byPlace, place.name, () => ({ place, served: [] })).served.push({ listener, table })
    }
    if (slice.isUsedUp()) yield
  }
  return Array.from(byPlace.values(), ({ place, served: own }) => ({
    ...place,
    boundPort: boundPort(place.port),
    scheme: own[0]?.listener.scheme ?? 'http',
    routes: finderOf(own),
    certificates: new Map(own.flatMap(({ listener }) => serverName(listener))),
    ...fallbackOf(own),
  }))
}

interface ServedTable {
  readonly listener: ServedListener
  readonly table: RouteTable
}

interface PlacedTables {
  readonly place: ReturnType<typeof frontendPlace>
  readonly served: ServedTable[]
}

function finderOf(served: readonly ServedTable[]): RouteFinder {
  const index = new HostIndex(
    served.map(({ listener, table }) => [routeHostOf(listener.listener.hostname ?? '', 'any'), table] as const),
  )
  return { find: (request) => index.find(request.host)?.find(request) }
}

const serverName = ({ listener: { hostname = '' }, certificate }: ServedListener): (readonly [string, KeyPair])[] =>
  certificate === undefined || hostname === '' ? [] : [[hostname.toLowerCase(), certificate]]

/** The certificate of the listener for all hostnames. */
function fallbackOf(listeners: readonly ServedTable[]): Pick<FrontendSpec, 'fallback'> {
  const fallback = listeners.find(({ listener: { listener } }) => (listener.hostname ?? '') === '')?.listener
    .certificate
  return fallback === undefined ? {} : { fallback }
}
