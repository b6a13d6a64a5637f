// ApiServer: handles requests, from their senders through the filters to the registry. Transports call handle().
// server-builder.ts constructs what it consists of.
import { assert } from '../base/assert.ts'
import { unlessAborted } from '../base/async/unless-aborted.ts'
import { thenMaybe, type MaybePromise } from '../base/async/maybe-promise.ts'
import { yieldToPeers } from '../base/async/yield-to-peers.ts'
import { StatusError } from '../api/errors/status-error.ts'
import { CallRecorder } from './call-recorder.ts'
import { KmsError } from './encryption/kms/kms-error.ts'
import { filters } from './filters.ts'
import { handlerChain, type Handler } from './filters/filter.ts'
import { handlePath } from './handle-path.ts'
import { largeBodyBytes } from './http/request-body.ts'
import { newWatchFrameCaches } from './http/watch-frames.ts'
import type { KindCatalogue } from './kinds/kind-catalogue.ts'
import type { Registry } from './registry/registry.ts'
import type { PeerRoutes, ServedExtensions } from './request/extension.ts'
import type { LoopMonitor } from './request/loop-monitor.ts'
import { RequestDeadlines } from './request/request-deadlines.ts'
import type { ApiRequest, ResourceRequest, Target } from './request/request.ts'
import type { ApiResponse } from './request/response.ts'
import { buildServer, type BuiltServer } from './server-builder.ts'
import type { ApiServerDeps } from './server-deps.ts'
import { UiEndpoints } from './ui/ui-endpoints.ts'

export class ApiServer {
  readonly #deps: ApiServerDeps
  readonly #built: BuiltServer
  readonly #chain: Handler
  readonly #ready = Promise.withResolvers<void>()
  #isReady = false
  #isDraining = false
  readonly catalogue: KindCatalogue
  readonly registry: Registry
  /** The group versions that other servers serve. */
  readonly extensions: ServedExtensions
  readonly peers: PeerRoutes | undefined
  readonly calls: CallRecorder
  readonly deadlines: RequestDeadlines
  readonly loop: LoopMonitor
  readonly watchFrames = newWatchFrameCaches()

  constructor(deps: ApiServerDeps) {
    this.#deps = deps
    this.#ready.promise.catch(() => {}) // requests that wait for it get the error
    this.#built = buildServer(deps, { isReady: () => this.#isReady, isDraining: () => this.#isDraining })
    const { catalogue, registry, aggregation, loop, filterDeps } = this.#built
    this.catalogue = catalogue
    this.registry = registry
    this.extensions = aggregation.extensions
    this.peers = deps.peers
    this.loop = loop
    this.calls = new CallRecorder(deps)
    this.deadlines = new RequestDeadlines(deps.clock)
    const chain = handlerChain(
      filters,
      filterDeps,
      (request) => this.#handleFiltered(request),
      (request, filter) => this.calls.passed(request, filter),
    )
    const { injectFault } = deps
    this.#chain = injectFault === undefined ? chain : (request) => (injectFault(request), chain(request))
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
      await Promise.all(this.#built.controllers.map((each) => each.run(signal)))
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
    const { clock, log } = this.#deps
    for (;;)
      try {
        return await this.registry.commitBootstrapObjects(this.#built.bootstrapObjects(), signal)
      } catch (error) {
        if (!(error instanceof KmsError)) throw error
        log.warn('the bootstrap objects cannot be encrypted yet', { error: error.message })
        await clock.sleep(bootstrapRetryMs, signal)
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
    const page = UiEndpoints.ownsPath(request.target) ? this.#built.paths.ui.handlePublic(request) : undefined
    return page ?? this.calls.record(request, this.#chain)
  }

  /** Handles a request that has passed the filters: its body is read, and then it is served. */
  #handleFiltered(request: ApiRequest): MaybePromise<ApiResponse> {
    const { flow, requestMetrics } = this.#deps
    const { allowedBy, context, rejection, readBody, slot, target } = request
    assert(slot !== undefined, 'requests are scheduled before they are served')
    if (rejection !== undefined) throw rejection.error
    if (allowedBy !== undefined) flow.explain(context.cause.event, allowedBy)
    if (readBody === undefined) {
      // A watch takes little time, however many objects there are.
      if (target.verb === 'watch') return this.#serve(request)
      return slot.serve(false, (pace) => this.#serve(pace === undefined ? request : { ...request, pace }))
    }
    return thenMaybe(slot.receive(readBody()), ({ bytes, parse }) => {
      if (target.kind === 'resource') requestMetrics.received(target, bytes)
      return slot.serve(bytes > largeBodyBytes, (pace) =>
        thenMaybe(parse(pace), (received) => {
          this.calls.received(request, received.body)
          return this.#serve(pace === undefined ? { ...request, ...received } : { ...request, ...received, pace })
        }),
      )
    })
  }

  #serve(request: ApiRequest): MaybePromise<ApiResponse> {
    const { target, extension } = request
    if (extension !== undefined) return this.#built.aggregation.proxy.handle(request, extension)
    if (target.kind === 'resource') return this.registry.handle(request as ResourceRequest)
    return handlePath(request, target, this.#built.paths)
  }
}

/** Reads are so short that they are handled synchronously. */
const isRead = ({ kind, verb }: Target): boolean =>
  kind === 'path' || verb === 'get' || verb === 'list' || verb === 'watch'

const bootstrapRetryMs = 1_000

const healthPaths = /^\/(healthz|livez|readyz)(\/|$)/
