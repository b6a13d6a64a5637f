// The plan: from all objects of the Gateway API to the ports of the data plane and the verdicts from which statuses are
// written. Pure.
import { getOrInsert } from '../base/collections/get-or-insert.ts'
import type { FrontendSpec } from '../ingress/data-plane/frontends.ts'
import { attachRoutes, type AttachSources, type RouteVerdict } from './attachment/attach-routes.ts'
import {
  areListenersServed,
  evaluateGateways,
  isServed,
  type GatewaySources,
  type GatewayVerdict,
} from './attachment/evaluate-gateways.ts'
import type { Gateway, Listener } from './kinds/gateway-kinds.ts'
import type { AnyRoute } from './kinds/route-kinds.ts'
import { compileRoute, type CompiledRoute } from './translation/compile-route.ts'
import { listenerFrontends, type AttachedRoute } from './translation/listener-frontends.ts'
import type { BackendSources } from './translation/resolve-backend.ts'

export interface PlanSources extends GatewaySources, BackendSources, Pick<AttachSources, 'namespaceLabels'> {
  /** The port that is opened for a port of listeners. */
  boundPort(port: number): number
}

export interface GatewayPlan {
  readonly frontends: readonly FrontendSpec[]
  readonly gateways: readonly GatewayVerdict[]
  readonly routes: readonly (RouteVerdict & { readonly compiled: CompiledRoute })[]
  /** The number of routes by listener. */
  readonly attached: ReadonlyMap<Listener, number>
}

/** `gateways` are those of accepted classes of this controller. */
export function planGateways(
  gateways: readonly Gateway[],
  routes: readonly AnyRoute[],
  sources: PlanSources,
): GatewayPlan {
  const verdicts = evaluateGateways(gateways, sources)
  const compiled = new Map(routes.map((route) => [route, compileRoute(route, sources)]))
  const compiledOf = (route: AnyRoute) => compiled.get(route) ?? compileRoute(route, sources)
  const attached = attachRoutes(routes, verdicts, {
    namespaceLabels: (name) => sources.namespaceLabels(name),
    rulesOf: (route) => compiledOf(route).rules,
  })
  const byListener = new Map<Listener, { readonly routes: Set<AnyRoute>; readonly served: AttachedRoute[] }>()
  for (const { route, parents } of attached)
    for (const { listener, hostnames } of parents.flatMap(({ attachments }) => attachments)) {
      const own = getOrInsert(byListener, listener.listener, () => ({ routes: new Set<AnyRoute>(), served: [] }))
      // Several references of a route may select the same listener.
      if (!own.routes.has(route)) own.served.push({ hostnames, templates: compiledOf(route).templates })
      own.routes.add(route)
    }
  const served = verdicts.filter(areListenersServed).flatMap(({ listeners }) => listeners.filter(isServed))
  const listeners = served.map((listener) => ({
    listener,
    routes: byListener.get(listener.listener)?.served ?? [],
  }))
  return {
    frontends: listenerFrontends(listeners, (port) => sources.boundPort(port)),
    gateways: verdicts,
    routes: attached.map((verdict) => ({ ...verdict, compiled: compiledOf(verdict.route) })),
    attached: new Map(Array.from(byListener, ([listener, own]) => [listener, own.routes.size])),
  }
}
