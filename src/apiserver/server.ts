// ApiServer: the road of a request, from its sender through the stations to the registry. Transports bring requests in.
import type { Clock } from '../base/clock.ts'
import { causeOf, type FlowRecorder } from '../base/flow.ts'
import type { Log } from '../base/log.ts'
import type { Histogram, Metrics } from '../base/metrics.ts'
import type { Random } from '../base/random.ts'
import { because } from '../base/context.ts'
import { StatusError } from '../api/status-error.ts'
import type { Store } from '../store/store.ts'
import type { Answer } from './answer.ts'
import { OpenApiDocuments } from './discovery/openapi-documents.ts'
import { answerPath, type ServerPaths } from './discovery/paths.ts'
import type { KubeletConnection } from './kubelet-connection.ts'
import type { Policies } from './policies.ts'
import { Registry } from './registry/registry.ts'
import type { ResourceRequest } from './registry/parts.ts'
import type { ApiRequest } from './request.ts'
import { road, type Next } from './station.ts'
import { stations } from './stations.ts'

export interface ApiServerParts {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
  readonly log: Log
  readonly metrics: Metrics
  readonly requestSeconds: Histogram
  readonly policies: Policies
  readonly digest: (text: string) => string
  readonly kubelets: KubeletConnection
  readonly explain?: (podKey: string) => object | undefined
}

const secondsBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]

/** Defined once per process, however often the API server in it restarts. */
export const requestSecondsMetric = (metrics: Metrics): Histogram =>
  metrics.histogram(
    'apiserver_request_duration_seconds',
    'Response latency distribution in seconds for each verb, group, version, resource and subresource.',
    secondsBounds,
    ['verb', 'group', 'version', 'resource', 'subresource'],
  )

export class ApiServer {
  readonly registry: Registry
  readonly #parts: ApiServerParts
  readonly #road: Next
  readonly #paths: ServerPaths
  #isReady = false
  /** Where clients reach it; set by whoever listens. */
  address = ''

  constructor(parts: ApiServerParts) {
    this.#parts = parts
    this.registry = new Registry({ ...parts, admission: parts.policies.admission })
    this.#paths = {
      metrics: parts.metrics,
      flow: parts.flow,
      explain: parts.explain,
      isReady: () => this.#isReady,
      address: () => this.address,
      digest: parts.digest,
      openApi: new OpenApiDocuments(parts.digest),
    }
    this.#road = road(stations, parts.policies, (request) => this.#end(request))
  }

  /** Keeps the caches filled until the signal ends it; `onReady` is called once they are. */
  run(signal: AbortSignal, onReady: () => void): Promise<void> {
    return this.registry.run(signal, () => {
      this.#isReady = true
      onReady()
    })
  }

  /** Takes a request along its road. */
  async handle(request: ApiRequest): Promise<Answer> {
    const { flow, clock } = this.#parts
    const { target } = request
    if (target.kind === 'path') return this.#road(request)
    const { verb, resource, subresource, namespace, name } = target
    const what = `${verb} ${resource.plural}${subresource === '' ? '' : `/${subresource}`}`
    const subject = { resource: resource.plural, namespace, name: name === '' ? nameInBody(request) : name }
    const call = flow.record('call', request.sender, 'API Server', what, subject, 0, request.context.cause)
    const startMs = clock.monotonicMs()
    try {
      const answer = await this.#road({ ...request, context: because(request.context, causeOf(call)) })
      flow.finish(call, 'status' in answer ? String(answer.status) : '200')
      return answer
    } catch (error) {
      flow.finish(call, error instanceof StatusError ? `${error.code} ${error.reason}` : '500')
      throw error
    } finally {
      const { group, version, plural } = resource
      this.#parts.requestSeconds.observe(
        { verb: verb.toUpperCase(), group, version, resource: plural, subresource },
        (clock.monotonicMs() - startMs) / 1000,
      )
    }
  }

  #end(request: ApiRequest): Promise<Answer> {
    const { target } = request
    if (target.kind === 'resource') return this.registry.handle(request as ResourceRequest)
    return Promise.resolve(answerPath(target.path, target.accept, this.#paths))
  }
}

function nameInBody({ body }: ApiRequest): string {
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
