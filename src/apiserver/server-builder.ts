// buildServer: constructs what an API server consists of, each from what was constructed before. The caches notify their
// observers in the order in which they are added here.
import { HealthCheckMetrics } from '../base/observability/health-check-metrics.ts'
import { customResourceDefinition } from '../api/apiextensions/v1/custom-resource-definition.ts'
import { apiService } from '../api/apiregistration/v1/api-service.ts'
import { node } from '../api/core/v1/node/node.ts'
import { service } from '../api/core/v1/service/service.ts'
import { ipAddress } from '../api/networking/v1/ip-address.ts'
import { serviceCidr } from '../api/networking/v1/service-cidr.ts'
import { Aggregation } from './aggregation/aggregation.ts'
import { ApiServiceController } from './aggregation/api-service-controller.ts'
import type { BootstrapObject } from './bootstrap/bootstrap-object.ts'
import { runReconciler } from './bootstrap/bootstrap-reconciler.ts'
import { DefinitionController } from './custom-resources/definition-controller.ts'
import { DefinitionObserver } from './custom-resources/definition-observer.ts'
import { conversionOf } from './custom-resources/webhook-conversion.ts'
import { AggregatedDiscovery } from './discovery/aggregated-discovery.ts'
import { addOnApiServiceOf, addOnGroupVersions, localApiServiceOf } from './discovery/local-api-services.ts'
import type { NonResourcePathDeps } from './discovery/non-resource-paths.ts'
import { OpenApiDocuments } from './discovery/openapi-documents.ts'
import { ServedGroups } from './discovery/served-groups.ts'
import { measuredPolicies } from './filters/measured-policies.ts'
import type { FilterDeps } from './filters/policies.ts'
import { ownRecord } from './flow-endpoints/flow-records.ts'
import { SchedulingDecisions } from './flow-endpoints/scheduling-decisions.ts'
import type { HealthState } from './health/health-checks.ts'
import type { PathDeps } from './handle-path.ts'
import { KindCatalogue } from './kinds/kind-catalogue.ts'
import { Registry } from './registry/registry.ts'
import { LoopMonitor } from './request/loop-monitor.ts'
import { RequestScheduler } from './request/request-scheduler.ts'
import type { ApiServerDeps, UiOptions } from './server-deps.ts'
import { allocatorUsage } from './strategies/service/allocator-usage.ts'
import { NodePortRepair } from './strategies/service/node-port-repair.ts'
import { serviceRangesDefault, type ServiceRanges } from './strategies/service/service-ranges.ts'
import { ServiceRepair } from './strategies/service/service-repair.ts'
import { statusRules } from './strategies/status-rules.ts'
import { strategiesOf } from './strategies/strategies.ts'
import { subresourceHandlers } from './strategies/subresource-handlers.ts'
import { hasOpenSession, withUiSessions } from './ui/session-authentication.ts'
import { uiApi } from './ui/ui-api.ts'
import { UiEndpoints } from './ui/ui-endpoints.ts'
import { UiSessions } from './ui/ui-sessions.ts'
import { UsageReader } from './virtual-resources/usage-reader.ts'
import { RemovedResources } from './metrics/removed-resources.ts'
import { virtualResources } from './virtual-resources/virtual-resources.ts'

/** Something that runs beside the requests until the signal. */
interface Runnable {
  run(signal: AbortSignal): Promise<void>
}

export interface BuiltServer {
  readonly catalogue: KindCatalogue
  readonly registry: Registry
  readonly aggregation: Aggregation
  readonly loop: LoopMonitor
  readonly filterDeps: FilterDeps
  readonly paths: PathDeps
  /** The objects that exist before the first request is handled. */
  readonly bootstrapObjects: () => readonly BootstrapObject[]
  /** They run when the bootstrap objects exist. */
  readonly controllers: readonly Runnable[]
}

/** What the health checks ask the server. */
export type ServerState = Pick<HealthState, 'isDraining' | 'isReady'>

export function buildServer(deps: ApiServerDeps, state: ServerState): BuiltServer {
  const { clock, flow, records = ownRecord(flow), random, digest, store, kmsCheck, serverMetrics } = deps
  const ranges = deps.serviceRanges ?? serviceRangesDefault
  const catalogue = new KindCatalogue(deps.gatedKinds)
  const loop = new LoopMonitor(deps)
  const registry = new Registry({
    ...deps,
    loop,
    catalogue,
    statusRules,
    subresourceHandlers,
    strategies: strategiesOf(ranges, { clock, metrics: serverMetrics.allocators }),
    virtualResources: virtualResources({ store, usage: new UsageReader(deps) }),
  })
  const removedResources = new RemovedResources(deps.metrics)
  catalogue.observe(removedResources)
  const core: ServerCore = { deps, catalogue, registry, ranges, removedResources }
  const definitions = definitionController(core)
  const servesAddOns = () => deps.advertisesAddOns === true || hasKubelet(registry)
  const apiServices = apiServiceController(core, servesAddOns)
  const groups = new ServedGroups(catalogue)
  registry.observe(apiService, groups)
  const aggregation = new Aggregation({ ...deps, ...registry.services, caches: registry })
  const documents = discoveryDocuments(core, groups, aggregation)
  const repairs = serviceRepairs(core)
  const { explain = () => undefined, explainElsewhere = () => Promise.resolve(undefined) } = deps
  const decisions = new SchedulingDecisions(explain, explainElsewhere, clock)
  const uiClock = deps.ui?.clock ?? clock
  const sessions = new UiSessions({ clock: uiClock, digest, random: random.fork('ui sessions') })
  const policies = measuredPolicies(withUiSessions(registry.policies, sessions), serverMetrics.access, clock)
  const filterDeps = { ...policies, scheduler: new RequestScheduler(clock), loop }
  const ui = uiEndpoints(core, sessions)
  const health = { ...state, store, clock, kmsCheck }
  const paths = { clock, flow, records, documents, decisions, ui, health, collectMetrics: () => collectMetrics(core) }
  const gated = catalogue.gated.map(({ group, version }) => localApiServiceOf(group, version))
  const bootstrapObjects = () => [
    ...deps.bootstrapObjects,
    ...gated,
    ...(servesAddOns() ? addOnGroupVersions.map(addOnApiServiceOf) : []),
  ]
  const reconcilers = (deps.reconcilers ?? []).map((each) => ({
    run: (signal: AbortSignal) => runReconciler(each, registry, deps, signal),
  }))
  const controllers = [definitions, apiServices, ...repairs, aggregation, ...reconcilers]
  return { catalogue, registry, aggregation, loop, filterDeps, paths, bootstrapObjects, controllers }
}

interface ServerCore {
  readonly deps: ApiServerDeps
  readonly catalogue: KindCatalogue
  readonly registry: Registry
  readonly ranges: ServiceRanges
  readonly removedResources: RemovedResources
}

/** The kinds of CustomResourceDefinitions. */
function definitionController({ deps, catalogue, registry }: ServerCore): DefinitionController {
  const controller = new DefinitionController({ ...deps, ...registry.services, catalogue })
  const conversionDeps = {
    ...deps,
    lister: registry.lister,
    connections: registry.policies.webhooks,
    metrics: deps.conversionMetrics,
    random: deps.random.fork('conversion'),
  }
  const observer = new DefinitionObserver({
    catalogue,
    conversionOf: (definition) => conversionOf(definition, conversionDeps),
    measures: deps.serverMetrics.rules.measures(deps.clock),
  })
  registry.observe(customResourceDefinition, observer)
  registry.observe(customResourceDefinition, controller)
  return controller
}

/** The APIServices of the group versions that this server serves. */
function apiServiceController(
  { deps, catalogue, registry }: ServerCore,
  servesAddOns: () => boolean,
): ApiServiceController {
  const controller = new ApiServiceController({
    ...deps,
    ...registry.services,
    catalogue,
    commitBootstrapObjects: (objects, signal) => registry.commitBootstrapObjects(objects, signal),
    servesAddOns,
  })
  registry.observe(node, controller.nodeObserver)
  catalogue.observe(controller.catalogueObserver)
  registry.observe(apiService, controller.serviceObserver)
  return controller
}

/** The metrics API needs kubelets. */
const hasKubelet = ({ lister }: Registry): boolean =>
  lister.list(node, '').some(({ status }) => status.daemonEndpoints?.kubeletEndpoint !== undefined)

/** As upstream, the hash of a storage version has eight bytes. */
const storageHashDigits = 16

function discoveryDocuments(
  { deps, catalogue, registry }: ServerCore,
  groups: ServedGroups,
  aggregation: Aggregation,
): NonResourcePathDeps {
  const { clock, digest, metrics } = deps
  const extensions = aggregation.documents
  const aggregated = new AggregatedDiscovery({ catalogue, groups, extensions, digest })
  const openApi = new OpenApiDocuments(catalogue, digest, extensions)
  aggregation.onChange(({ group }) => {
    aggregated.discard(group)
    openApi.discardExtensions()
  })
  return {
    catalogue,
    metrics,
    aggregated,
    groups,
    extensions,
    openApi,
    documents: registry.policies.documents,
    sliMetrics: new HealthCheckMetrics(),
    nowMs: () => clock.nowMs(),
    storageVersionHash: (text) => Uint8Array.fromHex(digest(text).slice(0, storageHashDigits)).toBase64(),
  }
}

function serviceRepairs({ deps, registry, ranges }: ServerCore): readonly Runnable[] {
  const shared = { ...deps, ...registry.services }
  const addresses = new ServiceRepair({ ...shared, ranges })
  const nodePorts = new NodePortRepair({ ...shared, metrics: deps.serverMetrics.allocators })
  registry.observe(service, addresses.serviceObserver)
  registry.observe(ipAddress, addresses.addressObserver)
  registry.observe(serviceCidr, addresses.rangeObserver)
  return [addresses, nodePorts]
}

const noUi: UiOptions = { files: () => new Map() }

function uiEndpoints({ deps, catalogue, registry }: ServerCore, sessions: UiSessions): UiEndpoints {
  const { ui = noUi, clock, flow, records = ownRecord(flow) } = deps
  const api = uiApi({
    ...deps,
    records,
    catalogue,
    registry,
    explanations: ui.explanations,
    stepClock: ui.stepClock,
    streamClock: ui.clock ?? clock,
    isOpen: (request) => hasOpenSession(request, sessions),
  })
  return new UiEndpoints({ sessions, ...ui }, api)
}

/** Updates the metrics that are computed when they are read. */
function collectMetrics({ deps, registry, ranges, removedResources }: ServerCore): void {
  const { requestMetrics, serverMetrics } = deps
  requestMetrics.collect(registry.sizes())
  serverMetrics.caches.collect(registry.caches())
  serverMetrics.allocators.collect(allocatorUsage(registry.lister, ranges))
  removedResources.removeSeries()
}
