// ApiServer: the handler chain of a request, from its sender through the filters to the registry. Transports call
// handle().
import { assert } from '../base/assert.ts'
import { yieldToPeers } from '../base/async/yield-to-peers.ts'
import { causeOf } from '../base/observability/flow-recorder.ts'
import { HealthCheckMetrics } from '../base/observability/health-check-metrics.ts'
import { withCause } from '../base/observability/context.ts'
import { unlessAborted } from '../base/async/unless-aborted.ts'
import { thenMaybe, settleMaybe, type MaybePromise } from '../base/async/maybe-promise.ts'
import { flowEventsPath } from '../api/coxswain/v1/flow-protocol.ts'
import { apiService } from '../api/apiregistration/v1/api-service.ts'
import { customResourceDefinition } from '../api/apiextensions/v1/custom-resource-definition.ts'
import { service } from '../api/core/v1/service/service.ts'
import { ipAddress } from '../api/networking/v1/ip-address.ts'
import { serviceCidr } from '../api/networking/v1/service-cidr.ts'
import { node } from '../api/core/v1/node/node.ts'
import { StatusError } from '../api/errors/status-error.ts'
import type { ApiResponse } from './request/response.ts'
import type { WatchForm } from './http/watch-pieces.ts'
import { newWatchFrameCaches } from './http/watch-frames.ts'
import { largeBodyBytes } from './http/request-body.ts'
import { ApiServiceController } from './aggregation/api-service-controller.ts'
import { DefinitionController } from './custom-resources/definition-controller.ts'
import { DefinitionObserver } from './custom-resources/definition-observer.ts'
import { conversionOf } from './custom-resources/webhook-conversion.ts'
import { Aggregation } from './aggregation/aggregation.ts'
import { AggregatedDiscovery } from './discovery/aggregated-discovery.ts'
import { OpenApiDocuments } from './discovery/openapi-documents.ts'
import { handleNonResourcePath, type NonResourcePathDeps } from './discovery/non-resource-paths.ts'
import { addOnApiServiceOf, addOnGroupVersions } from './discovery/local-api-services.ts'
import { ServedGroups } from './discovery/served-groups.ts'
import { SchedulingDecisions } from './flow-endpoints/scheduling-decisions.ts'
import { handleFlowEvents } from './flow-endpoints/flow-events.ts'
import { KindCatalogue } from './kinds/kind-catalogue.ts'
import { RequestDeadlines } from './request/request-deadlines.ts'
import { RequestScheduler } from './request/request-scheduler.ts'
import { RequestTermination } from './request/request-termination.ts'
import { TooManyRequests } from './request/too-many-requests.ts'
import { Overloaded } from '../platform/http/listener.ts'
import { LoopMonitor } from './request/loop-monitor.ts'
import { KmsError } from './encryption/kms/kms-error.ts'
import { healthChecks, type HealthState } from './health/health-checks.ts'
import { healthResponse, isHealthPath } from './health/health.ts'
import { Registry } from './registry/registry.ts'
import { statusRules } from './strategies/status-rules.ts'
import { allocatorUsage } from './strategies/service/allocator-usage.ts'
import { NodePortRepair } from './strategies/service/node-port-repair.ts'
import { serviceRangesDefault, type ServiceRanges } from './strategies/service/service-ranges.ts'
import { ServiceRepair } from './strategies/service/service-repair.ts'
import type { ApiServerDeps, UiOptions } from './server-deps.ts'
import { strategiesOf } from './strategies/strategies.ts'
import { subresourceHandlers } from './strategies/subresource-handlers.ts'
import { UsageReader } from './virtual-resources/usage-reader.ts'
import { virtualResources } from './virtual-resources/virtual-resources.ts'
import { runReconciler } from './bootstrap/bootstrap-reconciler.ts'
import {
  callNameOf,
  identifiedBy,
  isApplyRequest,
  presentedSubjectOf,
  resumedAt,
  subjectOf,
  unnamedSubjectOf,
} from './request/call-record.ts'
import type { ApiRequest, Body, Target, ResourceRequest } from './request/request.ts'
import type { ServedExtensions } from './request/extension.ts'
import { measuredPolicies } from './filters/measured-policies.ts'
import { handlerChain, type Handler } from './filters/filter.ts'
import { filters } from './filters.ts'
import { hasOpenSession, withUiSessions } from './ui/session-authentication.ts'
import { uiApi } from './ui/ui-api.ts'
import { UiEndpoints } from './ui/ui-endpoints.ts'
import { UiSessions } from './ui/ui-sessions.ts'

const noUi: UiOptions = { files: () => new Map() }

export class ApiServer {
  readonly catalogue = new KindCatalogue()
  readonly registry: Registry
  readonly #deps: ApiServerDeps
  readonly #chain: Handler
  readonly #paths: NonResourcePathDeps
  readonly #health: HealthState
  readonly #decisions: SchedulingDecisions
  readonly #definitions: DefinitionController
  readonly #apiServices: ApiServiceController
  readonly #ranges: ServiceRanges
  readonly #serviceRepair: ServiceRepair
  readonly #nodePortRepair: NodePortRepair
  readonly #aggregation: Aggregation
  readonly #ui: UiEndpoints
  readonly deadlines: RequestDeadlines
  readonly loop: LoopMonitor
  readonly watchFrames = newWatchFrameCaches()
  /** Counts the events that watches send. */
  readonly onEventsSent: WatchForm['onSent']
  /** Records the size of an encoded response. */
  readonly onResponse: (target: Target, bytes: number) => void
  readonly #ready = Promise.withResolvers<void>()
  #isReady = false
  #isDraining = false
  /** The address of the listener, set after construction. */
  address = ''

  constructor(deps: ApiServerDeps) {
    this.#deps = deps
    this.#ranges = deps.serviceRanges ?? serviceRangesDefault
    this.onEventsSent = (kind, events, bytes) => deps.serverMetrics.caches.sent(kind, events, bytes)
    this.onResponse = (target, bytes) => {
      if (target.kind === 'resource' && !target.isUnserved) deps.requestMetrics.responded(target, bytes)
    }
    this.deadlines = new RequestDeadlines(deps.clock)
    this.#ready.promise.catch(() => {}) // requests that wait for it get the error
    this.loop = new LoopMonitor(deps)
    this.registry = new Registry({
      ...deps,
      loop: this.loop,
      catalogue: this.catalogue,
      strategies: strategiesOf(this.#ranges, { clock: deps.clock, metrics: deps.serverMetrics.allocators }),
      statusRules,
      subresourceHandlers,
      virtualResources: virtualResources({ store: deps.store, usage: new UsageReader(deps) }),
    })
    const { services } = this.registry
    this.#definitions = new DefinitionController({ ...deps, ...services, catalogue: this.catalogue })
    const conversionDeps = {
      ...deps,
      lister: this.registry.lister,
      connections: this.registry.policies.webhooks,
      metrics: deps.conversionMetrics,
      random: deps.random.fork('conversion'),
    }
    this.registry.observe(
      customResourceDefinition,
      new DefinitionObserver({
        catalogue: this.catalogue,
        conversionOf: (definition) => conversionOf(definition, conversionDeps),
        measures: deps.serverMetrics.rules.measures(deps.clock),
      }),
    )
    this.registry.observe(customResourceDefinition, this.#definitions)
    this.#apiServices = new ApiServiceController({
      ...deps,
      ...services,
      catalogue: this.catalogue,
      commitBootstrapObjects: (objects, signal) => this.registry.commitBootstrapObjects(objects, signal),
      servesAddOns: () => this.#servesAddOns(),
    })
    this.registry.observe(node, this.#apiServices.nodeObserver)
    this.catalogue.observe(this.#apiServices.catalogueObserver)
    this.registry.observe(apiService, this.#apiServices.serviceObserver)
    const groups = new ServedGroups(this.catalogue)
    this.registry.observe(apiService, groups)
    this.#aggregation = new Aggregation({
      ...deps,
      ...services,
      caches: this.registry,
      onChange: ({ group }) => {
        aggregated.discard(group)
        openApi.discardExtensions()
      },
    })
    const { documents: extensions } = this.#aggregation
    const aggregated = new AggregatedDiscovery({ catalogue: this.catalogue, groups, extensions, digest: deps.digest })
    const openApi = new OpenApiDocuments(this.catalogue, deps.digest, extensions)
    this.#serviceRepair = new ServiceRepair({
      ...deps,
      ...services,
      ranges: this.#ranges,
    })
    this.#nodePortRepair = new NodePortRepair({ ...deps, ...services, metrics: deps.serverMetrics.allocators })
    this.registry.observe(service, this.#serviceRepair.serviceObserver)
    this.registry.observe(ipAddress, this.#serviceRepair.addressObserver)
    this.registry.observe(serviceCidr, this.#serviceRepair.rangeObserver)
    this.#decisions = new SchedulingDecisions(deps.explain ?? (() => undefined), deps.clock)
    this.#paths = {
      catalogue: this.catalogue,
      metrics: deps.metrics,
      sliMetrics: new HealthCheckMetrics(),
      documents: this.registry.policies.documents,
      address: () => this.address,
      nowMs: () => deps.clock.nowMs(),
      aggregated,
      groups,
      extensions,
      storageVersionHash: (text) => Uint8Array.fromHex(deps.digest(text).slice(0, storageHashDigits)).toBase64(),
      openApi,
    }
    this.#health = {
      store: deps.store,
      clock: deps.clock,
      kmsCheck: deps.kmsCheck,
      isReady: () => this.#isReady,
      isDraining: () => this.#isDraining,
    }
    const { ui = noUi, digest } = deps
    const uiClock = ui.clock ?? deps.clock
    const sessions = new UiSessions({ clock: uiClock, digest, random: deps.random.fork('ui sessions') })
    const api = uiApi({
      ...deps,
      catalogue: this.catalogue,
      registry: this.registry,
      streamClock: uiClock,
      explanations: ui.explanations,
      stepClock: ui.stepClock,
      isOpen: (request) => hasOpenSession(request, sessions),
    })
    this.#ui = new UiEndpoints({ sessions, ...ui }, api)
    const policies = withUiSessions(this.registry.policies, sessions)
    this.#chain = handlerChain(
      filters,
      {
        ...measuredPolicies(policies, deps.serverMetrics.access, deps.clock),
        scheduler: new RequestScheduler(deps.clock),
        loop: this.loop,
      },
      (request) => this.#handleFiltered(request),
      (request, { name, records }) => {
        const { context, sender, claimedSender, filterTimes } = request
        if (records === 'authentication' && sender === claimedSender) deps.flow.attribute(context.cause.event, sender)
        if (records !== undefined && records === identifiedBy(request)) this.#identify(request, request.body)
        const nowMs =
          records === undefined ? deps.clock.monotonicMs() : deps.flow.passStage(context.cause.event, records)
        if (filterTimes !== undefined) deps.serverMetrics.filters.passed(name, filterTimes, nowMs)
      },
    )
  }

  /** The group versions that other servers serve. */
  get extensions(): ServedExtensions {
    return this.#aggregation.extensions
  }

  /**
   * Feeds the caches until the signal ends it. `onReady` is called when they are filled and the bootstrap objects
   * exist.
   */
  async run(signal: AbortSignal, onReady: () => void): Promise<void> {
    const filled = Promise.withResolvers<'filled' | 'ended'>()
    const feed = this.registry.run(signal, () => filled.resolve('filled')).finally(() => filled.resolve('ended'))
    const prepare = async () => {
      if ((await filled.promise) === 'ended') return
      await this.#commitBootstrapObjects(signal)
      this.#isReady = true
      this.#ready.resolve()
      onReady()
      const { reconcilers = [] } = this.#deps
      await Promise.all([
        this.#definitions.run(signal),
        this.#apiServices.run(signal),
        this.#serviceRepair.run(signal),
        this.#nodePortRepair.run(signal),
        this.#aggregation.run(signal),
        ...reconcilers.map((each) => runReconciler(each, this.registry, this.#deps, signal)),
      ])
    }
    try {
      await Promise.all([feed, prepare()])
    } finally {
      this.deadlines.stop()
      this.#ready.reject(new StatusError(503, 'ServiceUnavailable', 'the API server has ended'))
    }
  }

  /** While its KMS plugin is not available, the server runs but is not ready. */
  async #commitBootstrapObjects(signal: AbortSignal): Promise<void> {
    const addOns = this.#servesAddOns() ? addOnGroupVersions.map(addOnApiServiceOf) : []
    for (;;)
      try {
        return await this.registry.commitBootstrapObjects([...this.#deps.bootstrapObjects, ...addOns], signal)
      } catch (error) {
        if (!(error instanceof KmsError)) throw error
        this.#deps.log.warn('the bootstrap objects cannot be encrypted yet', { error: error.message })
        await this.#deps.clock.sleep(bootstrapRetryMs, signal)
      }
  }

  /** Reports that the server is not ready and ends the watches, so that clients connect to another server. */
  drain(): void {
    this.#isDraining = true
    this.registry.endWatches()
  }

  handle(request: ApiRequest): MaybePromise<ApiResponse> {
    const { target } = request
    if (!this.#isReady && !(target.kind === 'path' && healthPaths.test(target.path)))
      return unlessAborted(this.#ready.promise, request.context.signal).then(() => this.#handleReady(request))
    return isRead(target) ? this.#handleReady(request) : yieldToPeers().then(() => this.#handleReady(request))
  }

  #handleReady(request: ApiRequest): MaybePromise<ApiResponse> {
    const { flow, clock, requestMetrics } = this.#deps
    const { target } = request
    const page = UiEndpoints.ownsPath(target) ? this.#ui.handlePublic(request) : undefined
    if (page !== undefined) return page
    const startMs = clock.monotonicMs()
    const filterTimes = { passedMs: startMs }
    if (target.kind === 'path' || target.isUnserved) return this.#chain({ ...request, filterTimes })
    const { sender, context, extension } = request
    const subject = identifiedBy(request) === undefined ? subjectOf(target, request.body) : unnamedSubjectOf(target)
    const call = flow.record(
      'call',
      sender,
      'API Server',
      callNameOf(target, extension),
      subject,
      resumedAt(request),
      context.cause,
    )
    flow.startStages(call, startMs)
    requestMetrics.begin(target)
    const end = (code: number, result: string) => {
      flow.finish(call, result)
      const endMs = clock.monotonicMs()
      const { query } = request
      const dryRun = query.size === 0 ? noValues : query.getAll('dryRun')
      const fieldValidation = query.size === 0 ? '' : (query.get('fieldValidation') ?? '')
      const { span } = context.cause
      const seconds = (endMs - startMs) / 1000
      const isApply = target.verb === 'patch' && isApplyRequest(request)
      requestMetrics.end({ target, isApply, code, seconds, dryRun, fieldValidation, span, nowMs: clock.nowMs() })
    }
    return settleMaybe(
      () => {
        this.injectFault(request)
        return this.#chain({ ...request, context: withCause(request.context, causeOf(call)), filterTimes })
      },
      (response) => {
        const code = 'status' in response ? response.status : 200
        end(code, String(code))
        return response
      },
      (error) => {
        const { reason } = context.signal as { readonly reason: unknown }
        const ended = [error, reason].find((each) => each instanceof RequestTermination)
        if (ended !== undefined) requestMetrics.terminated(target, ended.code)
        if (error instanceof TooManyRequests) requestMetrics.rejected(error.limit)
        else if (error instanceof Overloaded) requestMetrics.rejected('memory')
        if (error instanceof StatusError) end(error.code, `${error.code} ${error.reason}`.trimEnd())
        else end(500, context.signal.aborted ? 'given up' : '500')
        throw error
      },
    )
  }

  /** The metrics API needs kubelets. */
  #servesAddOns(): boolean {
    if (this.#deps.advertisesAddOns === true) return true
    return this.registry.lister
      .list(node, '')
      .some(({ status }) => status.daemonEndpoints?.kubeletEndpoint !== undefined)
  }

  /** Called before the handler chain, within the flow event of the call. A server for fault injection throws here. */
  protected injectFault(_request: ApiRequest): void {}

  #handleFiltered(request: ApiRequest): MaybePromise<ApiResponse> {
    const { allowedBy, context, rejection, readBody, slot } = request
    assert(slot !== undefined, 'requests are scheduled before they are served')
    if (rejection !== undefined) throw rejection.error
    if (allowedBy !== undefined) this.#deps.flow.explain(context.cause.event, allowedBy)
    if (readBody === undefined) {
      // A watch takes little time, however many objects there are.
      if (request.target.verb === 'watch') return this.#serve(request)
      return slot.serve(false, (pace) => this.#serve(pace === undefined ? request : { ...request, pace }))
    }
    return thenMaybe(slot.receive(readBody()), ({ bytes, parse }) => {
      if (request.target.kind === 'resource') this.#deps.requestMetrics.received(request.target, bytes)
      return slot.serve(bytes > largeBodyBytes, (pace) =>
        thenMaybe(parse(pace), (received) => {
          this.#recordBody(request, received.body)
          return this.#serve(pace === undefined ? { ...request, ...received } : { ...request, ...received, pace })
        }),
      )
    })
  }

  /** Completes the records of the request with its body. */
  #recordBody({ target, context, record }: ApiRequest, body: Body): void {
    record?.setBody(body)
    if (target.kind === 'resource' && target.name === '') this.#identify({ target, context }, body)
  }

  #identify({ target, context }: Pick<ApiRequest, 'target' | 'context'>, body: Body): void {
    if (target.kind === 'resource') this.#deps.flow.identify(context.cause.event, presentedSubjectOf(target, body))
  }

  /** Measures the time until the initial events of a watch are sent; undefined if it has none. */
  watchListTimer({ target, query }: ApiRequest): (() => void) | undefined {
    if (target.kind === 'path' || target.verb !== 'watch' || query.get('sendInitialEvents') !== 'true') return undefined
    const { clock, requestMetrics } = this.#deps
    const startMs = clock.monotonicMs()
    return () => requestMetrics.watchListed(target, (clock.monotonicMs() - startMs) / 1000)
  }

  #serve(request: ApiRequest): MaybePromise<ApiResponse> {
    const { target, extension } = request
    if (extension !== undefined) return this.#aggregation.proxy.handle(request, extension)
    if (target.kind === 'resource') return this.registry.handle(request as ResourceRequest)
    const [first, ...rest] = target.path.split('/').filter((part) => part !== '')
    if (isHealthPath(first)) {
      const one = rest.length === 0 ? undefined : rest.join('/')
      return healthResponse(
        first,
        one,
        healthChecks(first, this.#health),
        request.query,
        this.#paths.sliMetrics,
        request.context.signal,
      )
    }
    if (first === 'metrics') {
      this.#deps.requestMetrics.collect(this.registry.sizes())
      const { allocators, caches } = this.#deps.serverMetrics
      caches.collect(this.registry.caches())
      allocators.collect(allocatorUsage(this.registry.lister, this.#ranges))
    }
    if (SchedulingDecisions.ownsPath(target.path)) return this.#decisions.handle(request)
    if (UiEndpoints.ownsPath(target)) return this.#ui.handle(request)
    if (target.path === flowEventsPath) return handleFlowEvents(request, this.#deps.flow, this.#deps.clock)
    return handleNonResourcePath(target.path, target.verb, target.accept, request.query, this.#paths)
  }
}

/** Reads are so short that they are handled synchronously. */
const isRead = ({ kind, verb }: Target): boolean =>
  kind === 'path' || verb === 'get' || verb === 'list' || verb === 'watch'

const noValues: readonly string[] = []

const bootstrapRetryMs = 1_000

/** As upstream, the hash of a storage version has eight bytes. */
const storageHashDigits = 16

const healthPaths = /^\/(healthz|livez|readyz)(\/|$)/
