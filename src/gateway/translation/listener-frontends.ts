// The ports of the data plane for the served listeners. A request is served by the routes of the listener with the most
// specific hostname only. Pure.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Slice, Sliced } from '../../base/work/work-slice.ts'
import type { FrontendSpec } from '../../ingress/data-plane/frontends.ts'
import type { Certificates } from '../../ingress/routing/certificate-table.ts'
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

export interface Places {
  /** The address of the data plane, which Ingresses have too. */
  readonly mainAddress: string | undefined
  /** The address at which load balancers reach the proxy. Each of their ports leads to a free port there. */
  readonly balancedHost?: string | undefined
}

export interface Binding extends Places {
  /** The port that is opened for a port of listeners. */
  boundPort(port: number): number
}

/** The place of a port of listeners in the data plane. */
export function frontendPlace(
  place: string | undefined,
  port: number,
  { mainAddress, balancedHost }: Places,
): Pick<FrontendSpec, 'name' | 'host' | 'port' | 'isApart'> {
  const name = `gateway ${place ?? ''} ${port}`
  if (balancedHost !== undefined) return { name, port, host: balancedHost, isApart: true }
  const host = place === mainAddress ? undefined : place
  return { name, port, ...(host === undefined ? {} : { host }) }
}

export function* listenerFrontends(
  listeners: readonly ListenerRoutes[],
  tables: ListenerTables,
  binding: Binding,
  slice: Slice,
): Sliced<readonly FrontendSpec[]> {
  const byPlace = new Map<string, PlacedTables>()
  for (const { listener, routes } of listeners) {
    const table = tables.of(listener.listener, routes)
    for (const each of listener.places.length === 0 ? [undefined] : listener.places) {
      const place = frontendPlace(each, listener.listener.port, binding)
      getOrInsert(byPlace, place.name, () => ({ place, served: [] })).served.push({ listener, table })
    }
    if (slice.isUsedUp()) yield
  }
  return Array.from(byPlace.values(), ({ place, served: own }) => ({
    ...place,
    boundPort: place.isApart === true ? 0 : binding.boundPort(place.port),
    scheme: own[0]?.listener.scheme ?? 'http',
    routes: finderOf(own),
    certificates: own[0]?.listener.scheme === 'tls' ? tlsCertificates(own) : httpsCertificates(own),
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

const httpsCertificates = (served: readonly ServedTable[]): Certificates =>
  new Map(served.flatMap(({ listener }) => serverName(listener)))

/** That of the listener whose routes serve the name, if it has one. */
function tlsCertificates(served: readonly ServedTable[]): Certificates {
  const index = new HostIndex(
    served.map(({ listener }) => [routeHostOf(listener.listener.hostname ?? '', 'any'), listener] as const),
  )
  return { get: (name) => index.find(name)?.certificate }
}

const serverName = ({ listener: { hostname = '' }, certificate }: ServedListener): (readonly [string, KeyPair])[] =>
  certificate === undefined || hostname === '' ? [] : [[hostname.toLowerCase(), certificate]]

/** The certificate of the listener for all hostnames. */
function fallbackOf(listeners: readonly ServedTable[]): Pick<FrontendSpec, 'fallback'> {
  const fallback = listeners.find(({ listener: { listener } }) => (listener.hostname ?? '') === '')?.listener
    .certificate
  return fallback === undefined ? {} : { fallback }
}
