// GatewayController: keeps the data plane equal to the Gateways of its classes and their routes, and writes the statuses of
// classes, Gateways and routes.
import { configMap } from '../api/core/v1/config-map.ts'
import { secret } from '../api/core/v1/secret.ts'
import { service, type Service } from '../api/core/v1/service/service.ts'
import { namespace } from '../api/core/v1/namespace.ts'
import { customResourceDefinition } from '../api/apiextensions/v1/custom-resource-definition.ts'
import { ignoring } from '../api/errors/status-error.ts'
import type { ResourceType } from '../api/kind/kind.ts'
import { keyOf, namespaceOf, objectKey, type ApiObject, type ObjectKey } from '../api/meta/object.ts'
import type { TaskGroup } from '../base/async/task-group.ts'
import { unlessAborted } from '../base/async/unless-aborted.ts'
import { getOrInsert } from '../base/collections/get-or-insert.ts'
import { lookup } from '../base/collections/lookup.ts'
import { context, type Context } from '../base/observability/context.ts'
import { causeOf, type Cause, type FlowRecorder } from '../base/observability/flow-recorder.ts'
import type { Log } from '../base/observability/log.ts'
import type { Random } from '../base/random/random.ts'
import { rfc3339, type Clock } from '../base/time/clock.ts'
import { runInSlices, type Slice } from '../base/work/work-slice.ts'
import type { Client } from '../client/client.ts'
import type { Informer } from '../client/informer/informer.ts'
import type { Informers } from '../client/informer/informers.ts'
import { Reconciler, type ReconcilerOptions } from '../client/reconcile/reconciler.ts'
import type { DataPlane } from '../ingress/data-plane/data-plane.ts'
import type { PortState } from '../ingress/data-plane/frontends.ts'
import { followRoutes, type IngressMetrics } from '../ingress/data-plane/ingress-metrics.ts'
import { olderFirst } from '../ingress/routing/older-first.ts'
import { KeyPairs } from '../ingress/ingress-api/key-pairs.ts'
import { portProblem, ProblemReporter, type Problem } from '../ingress/problem-reporter.ts'
import { equalValues } from '../schema/json/json-value.ts'
import { allListeners, areListenersServed, type GatewayVerdict } from './attachment/evaluate-gateways.ts'
import type { BalancerTarget } from './attachment/gateway-balancer.ts'
import { isServed, type ListenerVerdict } from './attachment/listener-verdict.ts'
import { gatewayClassDefinition } from './definitions/gateway-class.ts'
import { gatewayGroup } from './definitions/schema-parts.ts'
import {
  acceptedClass,
  bundleVersionAnnotation,
  classStatus,
  gatewayControllerName,
  isOwnClass,
} from './gateway-class.ts'
import { GatewayBalancers } from './gateway-balancers.ts'
import {
  gateway,
  gatewayClass,
  listenerSet,
  referenceGrant,
  type Gateway,
  type GatewayClass,
  type ListenerSet,
} from './kinds/gateway-kinds.ts'
import { backendTlsPolicy } from './kinds/policy-kinds.ts'
import { grpcRoute, httpRoute, tlsRoute, type AnyRoute, type RouteStatus } from './kinds/route-kinds.ts'
import { planCaches, planGateways, type GatewayPlan, type PlanSources } from './plan-gateways.ts'
import { policyStatus } from './policies/policy-status.ts'
import { ReferencedKeys } from './referenced-keys.ts'
import { gatewayStatus, type GatewayStatusSources } from './status/gateway-status.ts'
import { listenerSetStatus } from './status/listener-set-status.ts'
import { routeStatus } from './status/route-status.ts'
import { frontendPlace } from './translation/listener-frontends.ts'

export interface GatewayControllerDeps {
  readonly client: Client
  readonly informers: Pick<Informers, 'of' | 'metadataOf'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly flow: FlowRecorder
  readonly metrics: Pick<IngressMetrics, 'removedRoutes' | 'unservable'>
  readonly dataPlane: DataPlane
  /** Whether the text is a certificate and its key. */
  readonly isKeyPair: (certificate: string, key: string) => boolean
  /** Whether the text is one certificate or several. */
  readonly isCertificates: (text: string) => boolean
}

export interface GatewaySettings {
  /** The addresses of the proxy. The first is that of the data plane. A Gateway gets one that no other has. */
  readonly addresses: readonly string[]
  /** Gateways get load balancers, which lead to this address, instead of addresses of the proxy. */
  readonly balancerTarget?: BalancerTarget
  /** The port that is opened for a port of listeners; the same port when left out. */
  readonly boundPort?: (port: number) => number
}

const watched = [gatewayClass, gateway, httpRoute, grpcRoute, referenceGrant] as const
/** Kinds that older releases of the definitions do not have, or have in other versions. Their lists are not waited for. */
const watchedOptionally = [backendTlsPolicy, listenerSet, tlsRoute] as const
/** Most of these objects have nothing to do with Gateways; only changes of those that the last plan has read matter. */
const watchedReferences = [configMap, service, secret, namespace] as const
/** One plan is about all Gateways. */
const everything = 'gateways'
const reconcilerOptions: ReconcilerOptions = {
  name: 'gateway',
  workers: 1,
  backoff: { initialMs: 500, maxMs: 30_000 },
  isBatched: true,
  failureMessage: 'Gateways could not be applied',
}
/** The index of ReferenceGrants by namespace. */
const byNamespace = 'namespace'

export class GatewayController {
  readonly #deps: GatewayControllerDeps
  readonly #settings: GatewaySettings
  readonly #reconciler: Reconciler
  readonly #reporter: ProblemReporter
  readonly #definitions: Informer
  readonly #keyPairs: KeyPairs
  readonly #balancers: GatewayBalancers | undefined
  readonly #caches = planCaches()
  readonly #referenced = new ReferencedKeys()
  readonly #synced = Promise.withResolvers<void>()

  /** `signal` ends the watch of definitions. */
  constructor(deps: GatewayControllerDeps, settings: GatewaySettings, signal: AbortSignal) {
    this.#deps = deps
    this.#settings = settings
    const { informers, clock, log, dataPlane } = deps
    const { balancerTarget } = settings
    this.#balancers = balancerTarget && new GatewayBalancers(deps, balancerTarget)
    this.#reporter = new ProblemReporter(deps, 'gateway-controller')
    this.#keyPairs = new KeyPairs(deps.isKeyPair)
    this.#reconciler = new Reconciler(reconcilerOptions, { clock, log })
    this.#definitions = informers.metadataOf(customResourceDefinition, signal)
    dataPlane.onPortRetry(() => this.#reconciler.add(everything))
    informers.of(referenceGrant).addIndex(byNamespace, (grant) => [namespaceOf(grant)])
    for (const informer of [
      this.#definitions,
      ...[...watched, ...watchedOptionally].map((kind) => informers.of(kind as ResourceType)),
    ])
      informer.onChange(({ cause }) => this.#reconciler.add(everything, cause))
    followRoutes(deps.metrics, 'httproute', informers.of(httpRoute))
    followRoutes(deps.metrics, 'grpcroute', informers.of(grpcRoute))
    followRoutes(deps.metrics, 'tlsroute', informers.of(tlsRoute))
    for (const kind of watchedReferences)
      informers.of<ApiObject, unknown>(kind).onChange(({ key, cause }) => {
        if (this.#referenced.has(kind.plural, key)) this.#reconciler.add(everything, cause)
      })
  }

  /** Resolves when the Gateways that existed at the start are served. */
  get synced(): Promise<void> {
    return this.#synced.promise
  }

  /** Whether a port of listeners is open. */
  portState(place: string | undefined, port: number): PortState | undefined {
    const { addresses, balancerTarget } = this.#settings
    const places = { mainAddress: addresses[0], balancedHost: balancerTarget?.address }
    return this.#deps.dataPlane.stateOf(frontendPlace(place, port, places))
  }

  /** Runs in `tasks` until they are stopped. */
  start(tasks: TaskGroup): void {
    tasks.start('events of gateway controller', (signal) => this.#reporter.run(signal))
    this.#reconciler.add(everything)
    this.#reconciler.start(
      (_, ctx) => this.#reconcile(ctx),
      (signal) => unlessAborted(this.#areListed(), signal),
      tasks,
    )
  }

  async #areListed(): Promise<void> {
    const kinds = [...watched, ...watchedReferences]
    const informers = kinds.map((kind) => this.#deps.informers.of(kind as ResourceType))
    await Promise.all([this.#definitions, ...informers].map(({ synced }) => synced))
  }

  async #reconcile({ cause, signal }: Context): Promise<undefined> {
    const { flow, dataPlane, informers, clock } = this.#deps
    const classes = [...informers.of(gatewayClass).all()].filter(isOwnClass)
    const names = new Set(classes.filter((each) => acceptedClass(each).isMet).map(({ metadata }) => metadata.name))
    const gateways = [...informers.of(gateway).all()].filter(({ spec }) => names.has(spec.gatewayClassName))
    const routes: AnyRoute[] = [
      ...Array.from(informers.of(httpRoute).all(), (object) => ({ kind: 'HTTPRoute', object }) as const),
      ...Array.from(informers.of(grpcRoute).all(), (object) => ({ kind: 'GRPCRoute', object }) as const),
      ...Array.from(informers.of(tlsRoute).all(), (object) => ({ kind: 'TLSRoute', object }) as const),
    ]
    const sources = this.#sources()
    const sets = gateways.flatMap((each) => sources.listenerSets.get(keyOf(each)) ?? [])
    const certificates = [...gateways, ...sets].flatMap((each) => secretKeysOf(each)).map((key) => sources.secret(key))
    await runInSlices((slice) => this.#keyPairs.check(certificates, slice), clock, signal)
    const policies = [...informers.of(backendTlsPolicy).all()]
    const planned = (slice: Slice) => planGateways(gateways, routes, policies, sources, this.#caches, slice)
    const plan = await runInSlices(planned, clock, signal)
    this.#referenced.complete()
    const what = `apply ${gateways.length} Gateways`
    const step = flow.record('reconcile', 'Ingress', 'Ingress', what, undefined, 0, cause)
    await dataPlane.apply('gateway', plan.frontends)
    flow.finish(step, 'applied')
    const own = context(signal, causeOf(step))
    await this.#writeClasses(classes, own)
    this.#report(plan, causeOf(step))
    await this.#writeStatuses(plan, own)
    this.#synced.resolve()
  }

  #report({ gateways, unservable }: GatewayPlan, cause: Cause): void {
    const { metrics, log } = this.#deps
    const failures = new Map(unservable.map(({ object, message }) => [object, message]))
    for (const { kind, object, message } of unservable) {
      metrics.unservable.add({ kind })
      log.error(message, { key: keyOf(object) })
      if (kind !== 'Gateway') this.#reporter.report(object, [{ reason: 'Unservable', message }], cause)
    }
    for (const verdict of gateways) {
      const message = failures.get(verdict.gateway)
      const problems = message === undefined ? this.#portProblems(verdict) : [{ reason: 'Unservable', message }]
      this.#reporter.report(verdict.gateway, problems, cause)
    }
    this.#reporter.retain([...gateways.map((verdict) => verdict.gateway), ...failures.keys()])
  }

  #portProblems(verdict: GatewayVerdict): readonly Problem[] {
    const ports = new Set(areListenersServed(verdict) ? allListeners(verdict).filter(isServed).map(portOf) : [])
    const places = verdict.places.length === 0 ? [undefined] : verdict.places
    const failed = [...ports].flatMap((port) =>
      places.flatMap((place) => {
        const state = this.portState(place, port)
        return state?.kind === 'failed' ? [portProblem(port, state.why)] : []
      }),
    )
    const refused = allListeners(verdict).filter(({ accepted }) => accepted.reason === 'PortUnavailable')
    return [
      ...failed,
      ...refused.map(({ listener, accepted: { reason, message } }) => ({
        reason,
        message: `listener ${listener.name} is not served: ${message}`,
      })),
    ]
  }

  #sources(): PlanSources {
    const { informers, dataPlane } = this.#deps
    const { addresses, boundPort = (port) => port } = this.#settings
    const services = informers.of(service)
    const secrets = informers.of(secret)
    const namespaces = informers.of(namespace)
    const configMaps = informers.of(configMap)
    const grants = informers.of(referenceGrant)
    return {
      addresses,
      boundPort,
      ...this.#balancedSources((key) => services.get(this.#referenced.add(service.plural, key))),
      otherPorts: dataPlane.portsOf('ingress'),
      service: (key) => services.get(this.#referenced.add(service.plural, key)),
      secret: (key) => secrets.get(this.#referenced.add(secret.plural, key)),
      keyPair: (each) => this.#keyPairs.of(each),
      configMap: (key) => configMaps.get(this.#referenced.add(configMap.plural, key)),
      isCertificates: (text) => this.#deps.isCertificates(text),
      listenerSets: listenerSetsByGateway(informers.of(listenerSet).all()),
      grants: (name) => grants.byIndex(byNamespace, name),
      namespaceLabels: (name) => namespaces.get(this.#referenced.add(namespace.plural, name))?.metadata.labels,
    }
  }

  #balancedSources(read: (key: ObjectKey) => Service | undefined): Pick<PlanSources, 'balanced' | 'balancedHost'> {
    const balancers = this.#balancers
    if (balancers === undefined) return {}
    return { balancedHost: balancers.target.address, balanced: (gateways) => balancers.assigned(gateways, read) }
  }

  /** The ports of the proxy by those of the listeners. */
  #openedPorts(verdict: GatewayVerdict): ReadonlyMap<number, number> {
    const { places } = verdict
    const ports = [...new Set(allListeners(verdict).filter(isServed).map(portOf))].toSorted((a, b) => a - b)
    return new Map(
      ports.flatMap((port) => {
        const state = this.portState(places[0], port)
        return state?.kind === 'open' ? [[port, state.port] as const] : []
      }),
    )
  }

  async #writeClasses(classes: readonly GatewayClass[], ctx: Context): Promise<void> {
    const { metadata } = this.#definitions.get(gatewayClassDefinition.metadata.name ?? '') ?? {}
    const version = lookup(metadata?.annotations, bundleVersionAnnotation)
    for (const each of classes) await this.#write(gatewayClass, each, classStatus(each, version, this.#time()), ctx)
  }

  async #writeStatuses({ gateways, routes, policies, attached }: GatewayPlan, ctx: Context): Promise<void> {
    const time = this.#time()
    const failures: unknown[] = []
    const isolated = async (write: () => Promise<void>) => {
      try {
        await write()
      } catch (error) {
        ctx.signal.throwIfAborted()
        failures.push(error)
      }
    }
    const balancers = this.#balancers
    if (balancers !== undefined) {
      const accepted = gateways.filter((each) => each.accepted.isMet)
      for (const verdict of accepted)
        await isolated(() => balancers.write(verdict.gateway, setPortsOf(verdict), this.#openedPorts(verdict), ctx))
      const all = gateways.map(({ gateway: each }) => each)
      await isolated(() => balancers.retain(all, ctx))
    }
    for (const verdict of gateways) {
      const own: GatewayStatusSources = {
        time,
        portState: (place, port) => this.portState(place, port),
        attachedRoutes: ({ listener }) => attached.get(listener) ?? 0,
      }
      const status = gatewayStatus(verdict, own)
      await isolated(() => this.#write(gateway, verdict.gateway, status, ctx))
      for (const each of verdict.listenerSets)
        await isolated(() => this.#write(listenerSet, each.listenerSet, listenerSetStatus(each, verdict, own), ctx))
    }
    for (const { compiled, ...verdict } of routes) {
      const { resolvedRefs, dropped } = compiled
      const status = routeStatus(verdict, { controllerName: gatewayControllerName, resolvedRefs, dropped, time })
      await isolated(() => this.#writeRoute(verdict.route, status, ctx))
    }
    for (const { verdict, gateways: users } of policies) {
      const status = policyStatus(verdict, { controllerName: gatewayControllerName, gateways: users, time })
      // A policy for Services of others that has no status yet is not touched.
      if (status.ancestors.length === 0 && verdict.policy.status === undefined) continue
      await isolated(() => this.#write(backendTlsPolicy, verdict.policy, status, ctx))
    }
    // After the others were written: the failed ones are tried again later.
    if (failures.length > 0) throw failures[0]
  }

  async #writeRoute({ kind, object }: AnyRoute, status: RouteStatus, ctx: Context): Promise<void> {
    // A route of other controllers that has no status yet is not touched.
    if (status.parents.length === 0 && object.status === undefined) return
    switch (kind) {
      case 'HTTPRoute':
        return this.#write(httpRoute, object, status, ctx)
      case 'GRPCRoute':
        return this.#write(grpcRoute, object, status, ctx)
      case 'TLSRoute':
        return this.#write(tlsRoute, object, status, ctx)
      default:
        return kind satisfies never
    }
  }

  async #write<T extends ApiObject & { readonly status?: object }, Input>(
    kind: ResourceType<T, Input>,
    object: T,
    status: NonNullable<T['status']>,
    ctx: Context,
  ): Promise<void> {
    if (equalValues(object.status, status)) return
    // After a conflict, the next version of the object arrives by the watch.
    const objects = this.#deps.client.of(kind)
    await objects.updateStatus({ ...object, status }, ctx).catch(ignoring('Conflict', 'NotFound'))
  }

  #time(): string {
    return rfc3339(this.#deps.clock.nowMs())
  }
}

/** By the keys of their Gateways; older ones first. */
function listenerSetsByGateway(sets: Iterable<ListenerSet>): ReadonlyMap<ObjectKey, readonly ListenerSet[]> {
  const byGateway = new Map<ObjectKey, ListenerSet[]>()
  for (const each of [...sets].toSorted(olderFirst)) {
    // A ListenerSet that cannot be read belongs to no Gateway.
    const {
      group = gatewayGroup,
      kind = 'Gateway',
      namespace: place = namespaceOf(each),
      name,
    } = each.spec?.parentRef ?? {}
    if (group !== gatewayGroup || kind !== 'Gateway' || name === undefined) continue
    getOrInsert(byGateway, objectKey(place, name), () => []).push(each)
  }
  return byGateway
}

/** An object that cannot be read is reported by the plan. */
function secretKeysOf(object: Gateway | ListenerSet): readonly ObjectKey[] {
  try {
    const refs = object.spec.listeners.flatMap(({ tls }) => tls?.certificateRefs ?? [])
    return refs.map(({ namespace: place = namespaceOf(object), name }) => objectKey(place, name))
  } catch {
    return []
  }
}

const setPortsOf = ({ listenerSets }: GatewayVerdict): readonly number[] =>
  listenerSets.flatMap(({ listeners }) => listeners.filter(isServed).map(portOf))

const portOf = ({ listener }: ListenerVerdict): number => listener.port

/** Runs in `tasks` until they are stopped. */
export function startGatewayController(
  deps: GatewayControllerDeps,
  settings: GatewaySettings,
  tasks: TaskGroup,
): GatewayController {
  const controller = new GatewayController(deps, settings, tasks.signal)
  controller.start(tasks)
  return controller
}
