// ApiServer: the road of a request, from its sender through the stations to the registry. Transports bring requests in.
import { abreast } from '../base/abreast.ts'
import type { Clock } from '../base/clock.ts'
import { causeOf, type FlowObject, type FlowRecorder } from '../base/flow.ts'
import type { Log } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Random } from '../base/random.ts'
import { because } from '../base/context.ts'
import { getOrMake } from '../base/get-or-make.ts'
import { unlessAborted } from '../base/unless-aborted.ts'
import { whenKnown, whenSettled, type Soon } from '../base/when-known.ts'
import { flowEventsPath } from '../api/flow-wire.ts'
import type { Kind } from '../api/kind.ts'
import { addOnGroups } from '../api/kinds.ts'
import { StatusError } from '../api/status-error.ts'
import type { Store } from '../store/store.ts'
import type { Answer } from './answer.ts'
import { largeBodyBytes } from './body.ts'
import { OpenApiDocuments } from './discovery/openapi-documents.ts'
import { answerPath, type ServerPaths } from './discovery/paths.ts'
import { Decisions, type Explain } from './decisions.ts'
import { answerFlowEvents } from './flow-events.ts'
import type { KubeletConnection } from './kubelet-connection.ts'
import { PacedRequests } from './paced-requests.ts'
import type { Caches, Policies } from './policies.ts'
import { Deadlines } from './deadlines.ts'
import { LoopWatch } from './loop-watch.ts'
import { KmsError } from './encryption/kms/kms-error.ts'
import { healthChecks, type HealthState } from './health-checks.ts'
import { health, isHealthPath, type HealthCheck } from './health.ts'
import { Registry } from './registry/registry.ts'
import type { ResourceRequest } from './registry/parts.ts'
import type { Seed } from './registry/seed.ts'
import { keepUp, type Upkeep } from './registry/upkeep.ts'
import type { ApiRequest, Body, ResourceTarget, Target } from './request.ts'
import type { RequestMetrics } from './request-metrics.ts'
import { road, type Next } from './station.ts'
import { stations } from './stations.ts'

export interface ApiServerParts {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
  readonly log: Log
  readonly metrics: Metrics
  readonly requestMetrics: RequestMetrics
  readonly policies: (caches: Caches) => Policies
  /** Objects that every cluster has. Requests wait until they are there. */
  readonly seeds: readonly Seed[]
  /** What is kept as it must be from then on. */
  readonly upkeep?: readonly Upkeep[]
  readonly digest: (text: string) => string
  readonly kubelets: KubeletConnection
  readonly explain?: Explain
  /**
   * Whether discovery tells of what an add-on serves upstream: `kubectl top` looks there first. It does in any case once
   * a kubelet has joined that answers on a port of its own.
   */
  readonly tellsOfAddOns?: boolean
  /** The check of the plugins that encryption at rest depends on. */
  readonly kmsCheck?: HealthCheck | undefined
}

export class ApiServer {
  readonly registry: Registry
  readonly #parts: ApiServerParts
  readonly #road: Next
  readonly #paths: ServerPaths
  readonly #health: HealthState
  readonly #decisions: Decisions
  readonly deadlines: Deadlines
  readonly loop: LoopWatch
  readonly #paced: PacedRequests
  /** The last request that passed all stations, with its user. */
  #served: ApiRequest | undefined
  readonly #ready = Promise.withResolvers<void>()
  #isReady = false
  #isDraining = false
  /** Where clients reach it; set by whoever listens. */
  address = ''

  constructor(parts: ApiServerParts) {
    this.#parts = parts
    this.deadlines = new Deadlines(parts.clock)
    this.#ready.promise.catch(() => {}) // whoever waits for it is told
    this.loop = new LoopWatch(parts)
    this.#paced = new PacedRequests(parts.clock)
    this.registry = new Registry({ ...parts, loop: this.loop })
    this.#decisions = new Decisions(parts.explain ?? (() => undefined), parts.clock)
    this.#paths = {
      metrics: parts.metrics,
      documents: this.registry.policies.documents,
      address: () => this.address,
      digest: parts.digest,
      openApi: new OpenApiDocuments(parts.digest),
      hiddenGroups: () => (parts.tellsOfAddOns === true || this.registry.hasKubelets() ? [] : addOnGroups),
    }
    this.#health = {
      store: parts.store,
      clock: parts.clock,
      kmsCheck: parts.kmsCheck,
      isReady: () => this.#isReady,
      isDraining: () => this.#isDraining,
    }
    this.#road = road(
      stations,
      this.registry.policies,
      (request) => this.#end(request),
      ({ context, sender, claimedSender }, station) => {
        if (station === 'authentication' && sender === claimedSender) parts.flow.attribute(context.cause.event, sender)
        parts.flow.pass(context.cause.event, station)
      },
    )
  }

  /** Keeps the caches filled until the signal ends it; `onReady` is called once they are and the first objects exist. */
  async run(signal: AbortSignal, onReady: () => void): Promise<void> {
    const filled = Promise.withResolvers<'filled' | 'ended'>()
    const feed = this.registry.run(signal, () => filled.resolve('filled')).finally(() => filled.resolve('ended'))
    const prepare = async () => {
      if ((await filled.promise) === 'ended') return
      await this.#seed(signal)
      this.#isReady = true
      this.#ready.resolve()
      onReady()
      const { upkeep = [] } = this.#parts
      await Promise.all(upkeep.map((each) => keepUp(each, this.registry, this.#parts, signal)))
    }
    try {
      await Promise.all([feed, prepare()])
    } finally {
      this.deadlines.stop()
      this.#ready.reject(new StatusError(503, 'ServiceUnavailable', 'the API server has ended'))
    }
  }

  /** Without its KMS plugin the server stays up, but not ready, until the plugin is there. */
  async #seed(signal: AbortSignal): Promise<void> {
    for (;;)
      try {
        return await this.registry.seed(this.#parts.seeds, signal)
      } catch (error) {
        if (!(error instanceof KmsError)) throw error
        this.#parts.log.warn('the first objects cannot be encrypted yet', { error: error.message })
        await this.#parts.clock.sleep(seedRetryMs, signal)
      }
  }

  /** Says to those who ask that it goes, and ends the watches: their clients look for another server. */
  drain(): void {
    this.#isDraining = true
    this.registry.endWatches()
  }

  /** Takes a request along its road. */
  handle(request: ApiRequest): Soon<Answer> {
    const { target } = request
    if (!this.#isReady && !(target.kind === 'path' && healthPaths.test(target.path)))
      return unlessAborted(this.#ready.promise, request.context.signal).then(() => this.#take(request))
    return isRead(target) ? this.#take(request) : abreast().then(() => this.#take(request))
  }

  #take(request: ApiRequest): Soon<Answer> {
    const { flow, clock, requestMetrics } = this.#parts
    const { target } = request
    if (target.kind === 'path' || target.isUnserved) return this.#road(request)
    const { sender, context } = request
    const subject = subjectOf(target, request.body)
    const call = flow.record('call', sender, 'API Server', whatOf(target), subject, resumedAt(request), context.cause)
    const startMs = clock.monotonicMs()
    flow.enter(call, startMs)
    requestMetrics.begin(target)
    let isSuspended = false
    const end = (code: number, result: string) => {
      flow.finish(call, result)
      const endMs = clock.monotonicMs()
      requestMetrics.end(target, code, (endMs - startMs) / 1000)
      if (!isSuspended) this.loop.answered(this.#served ?? request, startMs, endMs)
      this.#served = undefined
    }
    const answer = whenSettled(
      () => {
        this.meet(request)
        return this.#road({ ...request, context: because(request.context, causeOf(call)) })
      },
      (answer) => {
        const code = 'status' in answer ? answer.status : 200
        end(code, String(code))
        return answer
      },
      (error) => {
        if (error instanceof StatusError) end(error.code, `${error.code} ${error.reason}`.trimEnd())
        else end(500, context.signal.aborted ? 'given up' : '500')
        throw error
      },
    )
    isSuspended = answer instanceof Promise
    return answer
  }

  /** Before its road, on the record: a server that lets requests fail throws here. */
  protected meet(_request: ApiRequest): void {}

  #end(request: ApiRequest): Soon<Answer> {
    this.#served = request
    const { allowedBy, context, unreadable, readBody } = request
    if (unreadable !== undefined) throw unreadable.error
    if (allowedBy !== undefined) this.#parts.flow.explain(context.cause.event, allowedBy)
    if (readBody === undefined) return this.#inTurn(request, 0, (paced) => this.#serve(paced))
    return whenKnown(readBody(), ({ bytes, parse }) =>
      this.#inTurn(request, bytes, (paced) =>
        whenKnown(parse(), (received) => {
          this.#received(request, received.body)
          return this.#serve({ ...paced, ...received })
        }),
      ),
    )
  }

  /** A client's request that may hold the event loop for long waits for its turn; all others go on at once. */
  #inTurn(request: ApiRequest, bodyBytes: number, serve: Next): Soon<Answer> {
    const { credentials, user, context, target } = request
    const isPaced =
      bodyBytes > largeBodyBytes ||
      (credentials.kind === 'presented' && target.verb !== 'watch' && this.loop.isSlow(user?.name ?? ''))
    if (!isPaced) return serve(request)
    return this.#paced.run(user?.name ?? '', context.signal, (pace) => serve({ ...request, pace }))
  }

  /** What was recorded of the request before its body had come is completed. */
  #received({ target, context, record }: ApiRequest, body: Body): void {
    record?.receive(body)
    if (target.kind === 'resource' && target.name === '')
      this.#parts.flow.identify(context.cause.event, subjectOf(target, body))
  }

  #serve(request: ApiRequest): Soon<Answer> {
    const { target } = request
    if (target.kind === 'resource') return this.registry.handle(request as ResourceRequest)
    const [first, ...rest] = target.path.split('/').filter((part) => part !== '')
    if (isHealthPath(first)) {
      const one = rest.length === 0 ? undefined : rest.join('/')
      return health(first, one, healthChecks(first, this.#health), request.query, request.context.signal)
    }
    if (first === 'metrics') this.#parts.requestMetrics.look(this.registry.sizes())
    if (Decisions.owns(target.path)) return this.#decisions.answer(request)
    if (target.path === flowEventsPath) return answerFlowEvents(request, this.#parts.flow, this.#parts.clock)
    return answerPath(target.path, target.verb, target.accept, this.#paths)
  }
}

/** Its road is so short that it is walked at once. */
const isRead = ({ kind, verb }: Target): boolean =>
  kind === 'path' || verb === 'get' || verb === 'list' || verb === 'watch'

const seedRetryMs = 1_000

const healthPaths = /^\/(healthz|livez|readyz)(\/|$)/

/** The revision that a watch goes on from; 0 where it begins anew, and for all other requests. */
const resumedAt = ({ target, query }: ApiRequest): number =>
  target.kind === 'resource' && target.verb === 'watch' ? Number(query.get('resourceVersion')) || 0 : 0

const whats = new Map<Kind, Map<string, string>>()

/** What is asked for, as diagrams write it. Every event of the ring holds one: they are shared. */
function whatOf({ resource, verb, subresource }: ResourceTarget): string {
  const known = getOrMake(whats, resource, () => new Map<string, string>())
  const asked = subresource === '' ? verb : `${verb}/${subresource}`
  return getOrMake(known, asked, () => `${verb} ${resource.plural}${subresource === '' ? '' : `/${subresource}`}`)
}

const subjectOf = ({ resource, namespace, name }: ResourceTarget, body: Body): FlowObject => ({
  resource: resource.plural,
  namespace,
  name: name === '' ? nameInBody(body) : name,
})

function nameInBody(body: Body): string {
  const metadata =
    body.kind === 'value'
      ? (body.value as { metadata?: { name?: unknown; generateName?: unknown } } | null)?.metadata
      : undefined
  return typeof metadata?.name === 'string'
    ? metadata.name
    : typeof metadata?.generateName === 'string'
      ? `${metadata.generateName}*`
      : ''
}
