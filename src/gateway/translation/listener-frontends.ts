// The ports of the data plane for the served listeners. A request is served by the routes of the listener with the most
// specific hostname only. Pure.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { FrontendSpec } from '../../ingress/data-plane/frontends.ts'
import { HostIndex } from '../../ingress/routing/host-index.ts'
import { routeHostOf, type Route } from '../../ingress/routing/route.ts'
import { RouteTable, type RouteFinder } from '../../ingress/routing/route-table.ts'
import type { KeyPair } from '../../platform/http/listener.ts'
import type { ServedListener } from '../attachment/evaluate-gateways.ts'
import type { RouteTemplate } from './compile-route.ts'

/** A route at a listener. */
export interface AttachedRoute {
  readonly hostnames: readonly string[]
  readonly templates: readonly RouteTemplate[]
}

export interface ListenerRoutes {
  readonly listener: ServedListener
  readonly routes: readonly AttachedRoute[]
}

export const frontendName = (port: number): string => `gateway ${port}`

/** `boundPort` is the port that is opened for a port of listeners. */
export function listenerFrontends(
  listeners: readonly ListenerRoutes[],
  boundPort: (port: number) => number,
): readonly FrontendSpec[] {
  const byPort = new Map<number, ListenerRoutes[]>()
  for (const each of listeners) getOrInsert(byPort, each.listener.listener.port, () => []).push(each)
  return Array.from(byPort, ([port, own]) => ({
    ...{ name: frontendName(port), port, boundPort: boundPort(port) },
    scheme: own[0]?.listener.scheme ?? 'http',
    routes: finderOf(own),
    certificates: new Map(own.flatMap(({ listener }) => serverName(listener))),
    ...fallbackOf(own),
  }))
}

function finderOf(listeners: readonly ListenerRoutes[]): RouteFinder {
  const index = new HostIndex(
    listeners.map(({ listener, routes }) => {
      const own = routes.flatMap(({ hostnames, templates }) =>
        hostnames.flatMap((name) => templates.map((each): Route => ({ ...each, host: routeHostOf(name, 'any') }))),
      )
      return [routeHostOf(listener.listener.hostname ?? '', 'any'), new RouteTable(own)] as const
    }),
  )
  return { find: (request) => index.find(request.host)?.find(request) }
}

const serverName = ({ listener: { hostname = '' }, certificate }: ServedListener): (readonly [string, KeyPair])[] =>
  certificate === undefined || hostname === '' ? [] : [[hostname.toLowerCase(), certificate]]

/** The certificate of the listener for all hostnames. */
function fallbackOf(listeners: readonly ListenerRoutes[]): Pick<FrontendSpec, 'fallback'> {
  const fallback = listeners.find(({ listener: { listener } }) => (listener.hostname ?? '') === '')?.listener
    .certificate
  return fallback === undefined ? {} : { fallback }
}
