// The plan: from all objects of the Gateway API to the ports of the data plane and the verdicts from which statuses are
// written. It is computed in slices, and what has not changed since the last plan is not computed again.
import type { ObjectKey } from '../api/meta/object.ts'
import { getOrInsert } from '../base/collections/get-or-insert.ts'
import type { Slice, Sliced } from '../base/work/work-slice.ts'
import type { FrontendSpec } from '../ingress/data-plane/frontends.ts'
import { attachRoutes, type AttachSources, type RouteVerdict } from './attachment/attach-routes.ts'
import {
  allListeners,
  areListenersServed,
  evaluateGateways,
  type GatewaySources,
  type GatewayVerdict,
} from './attachment/evaluate-gateways.ts'
import { isServed } from './attachment/listener-verdict.ts'
import { unmet } from './attachment/outcome.ts'
import { unservable, type OnUnservable, type Unservable } from './attachment/unservable.ts'
import type { Gateway, Listener } from './kinds/gateway-kinds.ts'
import type { BackendTlsPolicy } from './kinds/policy-kinds.ts'
import type { AnyRoute } from './kinds/route-kinds.ts'
import { BackendTls, type BackendTlsSources, type PolicyVerdict } from './policies/backend-tls.ts'
import type { CompiledRoute } from './translation/compile-route.ts'
import { CompiledRoutes } from './translation/compiled-routes.ts'
import { listenerFrontends, type Binding } from './translation/listener-frontends.ts'
import { ListenerTables, type AttachedRoute } from './translation/listener-tables.ts'
import type { BackendSources } from './translation/resolve-backend.ts'

export interface PlanSources
  extends GatewaySources, Omit<BackendSources, 'portTls'>, BackendTlsSources, Pick<AttachSources, 'namespaceLabels'> {
  /** The port that is opened for a port of listeners. */
  boundPort(port: number): number
  /** The address at which load balancers reach the proxy, if Gateways have such. */
  readonly balancedHost?: string | undefined
}

export interface GatewayPlan {
  readonly frontends: readonly FrontendSpec[]
  readonly gateways: readonly GatewayVerdict[]
  readonly routes: readonly (RouteVerdict & { readonly compiled: CompiledRoute })[]
  /** The number of routes by listener. */
  readonly attached: ReadonlyMap<Listener, number>
  readonly policies: readonly PolicyPlan[]
  readonly unservable: readonly Unservable[]
}

export interface PolicyPlan {
  readonly verdict: PolicyVerdict
  /** With routes to its Services, in the order of their age. */
  readonly gateways: readonly Gateway[]
}

/** What is kept from one plan to the next. */
export interface PlanCaches {
  readonly compiled: CompiledRoutes
  readonly tables: ListenerTables
  readonly backendTls: BackendTls
}

export const planCaches = (): PlanCaches => ({
  compiled: new CompiledRoutes(),
  tables: new ListenerTables(),
  backendTls: new BackendTls(),
})

/** `gateways` are those of accepted classes of this controller. */
export function* planGateways(
  gateways: readonly Gateway[],
  routes: readonly AnyRoute[],
  policies: readonly BackendTlsPolicy[],
  sources: PlanSources,
  caches: PlanCaches,
  slice: Slice,
): Sliced<GatewayPlan> {
  const failed: Unservable[] = []
  const onUnservable: OnUnservable = (kind, object, error) => {
    const failure = unservable(kind, object, error)
    failed.push(failure)
    return failure.message
  }
  const verdicts = yield* evaluateGateways(gateways, sources, onUnservable, slice)
  caches.backendTls.replace(policies, sources, onUnservable)
  const backendSources: BackendSources = {
    service: (key) => sources.service(key),
    grants: (namespace) => sources.grants(namespace),
    portTls: (service, name) => caches.backendTls.of(service, name),
  }
  const compile = (route: AnyRoute) => caches.compiled.of(route, backendSources)
  const compiled = yield* compileRoutes(routes, compile, onUnservable, slice)
  const compiledOf = (route: AnyRoute) => compiled.get(route) ?? nothingCompiled
  const attachSources = { namespaceLabels: (name: string) => sources.namespaceLabels(name), compiled: compiledOf }
  const attached = yield* attachRoutes(routes, verdicts, attachSources, onUnservable, slice)
  const byListener = routesByListener(attached, compiledOf)
  const served = verdicts.filter(areListenersServed).flatMap((each) => allListeners(each).filter(isServed))
  const listeners = served.map((listener) => ({ listener, routes: byListener.get(listener.listener)?.served ?? [] }))
  const { balancedHost } = sources
  const binding: Binding = {
    mainAddress: sources.addresses[0],
    balancedHost,
    boundPort: (port) => sources.boundPort(port),
  }
  return {
    frontends: yield* listenerFrontends(listeners, caches.tables, binding, slice),
    gateways: verdicts,
    routes: attached.map((verdict) => ({ ...verdict, compiled: compiledOf(verdict.route) })),
    attached: new Map(Array.from(byListener, ([listener, own]) => [listener, own.routes.size])),
    policies: policyPlans(caches.backendTls.verdicts, verdicts, attached, compiledOf),
    unservable: failed,
  }
}

function policyPlans(
  policies: readonly PolicyVerdict[],
  gateways: readonly GatewayVerdict[],
  routes: readonly RouteVerdict[],
  compiledOf: (route: AnyRoute) => CompiledRoute,
): readonly PolicyPlan[] {
  const named = new Set(policies.flatMap(({ services }) => services))
  const usersOf = new Map<ObjectKey, Set<Gateway>>()
  for (const { route, parents } of named.size === 0 ? [] : routes)
    for (const { listener } of parents.flatMap(({ attachments }) => attachments))
      for (const service of compiledOf(route).services)
        if (named.has(service)) getOrInsert(usersOf, service, () => new Set()).add(listener.gateway)
  return policies.map((verdict) => {
    const users = new Set(verdict.services.flatMap((service) => [...(usersOf.get(service) ?? [])]))
    return { verdict, gateways: gateways.map(({ gateway }) => gateway).filter((gateway) => users.has(gateway)) }
  })
}

function* compileRoutes(
  routes: readonly AnyRoute[],
  compile: (route: AnyRoute) => CompiledRoute,
  onUnservable: OnUnservable,
  slice: Slice,
): Sliced<ReadonlyMap<AnyRoute, CompiledRoute>> {
  const compiled = new Map<AnyRoute, CompiledRoute>()
  for (const route of routes) {
    try {
      compiled.set(route, compile(route))
    } catch (error) {
      const rules = unmet('UnsupportedValue', onUnservable(route.kind, route.object, error))
      compiled.set(route, { ...nothingCompiled, rules })
    }
    if (slice.isUsedUp()) yield
  }
  return compiled
}

const nothingCompiled: CompiledRoute = {
  templates: [],
  services: [],
  resolvedRefs: unmet('Pending', 'the references have not been resolved'),
  rules: unmet('Pending', 'the rules have not been read'),
  dropped: undefined,
}

interface ListenerRoutes {
  readonly routes: Set<AnyRoute>
  readonly served: AttachedRoute[]
}

function routesByListener(
  verdicts: readonly RouteVerdict[],
  compiledOf: (route: AnyRoute) => CompiledRoute,
): ReadonlyMap<Listener, ListenerRoutes> {
  const byListener = new Map<Listener, ListenerRoutes>()
  for (const { route, parents } of verdicts)
    for (const { listener, hostnames } of parents.flatMap(({ attachments }) => attachments)) {
      const own = getOrInsert(byListener, listener.listener, () => ({ routes: new Set<AnyRoute>(), served: [] }))
      // Several references of a route may select the same listener.
      if (!own.routes.has(route)) own.served.push({ hostnames, templates: compiledOf(route).templates })
      own.routes.add(route)
    }
  return byListener
}
