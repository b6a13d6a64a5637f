// Aggregation: group versions that other servers serve, as APIServices register them. This file connects its parts.
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { apiService, type APIService } from '../../api/apiregistration/v1/api-service.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { Identity } from '../../pki/authority.ts'
import { Unreachable, type OutboundProvider } from '../../platform/http/outbound.ts'
import type { AggregationMetrics } from '../metrics/aggregation-metrics.ts'
import type { PeerRoutes } from '../request/extension.ts'
import type { ResourceDeps } from '../registry/resource/resource-deps.ts'
import type { ObjectLister, CacheObserver } from '../watch-cache/object-caches.ts'
import { AvailabilityController } from './availability-controller.ts'
import { ExtensionConnections } from './extension-connections.ts'
import { ExtensionDocuments } from './extension-documents.ts'
import { ExtensionProxy } from './extension-proxy.ts'
import { Extensions } from './extensions.ts'

export interface AggregationDeps {
  readonly clock: Clock
  readonly log: Log
  readonly flow: FlowRecorder
  readonly outbound?: OutboundProvider
  readonly proxyIdentity?: (() => Identity | undefined) | undefined
  /** The other API servers of the cluster. */
  readonly peers?: PeerRoutes | undefined
  readonly lister: ObjectLister
  readonly serverMetrics: { readonly aggregation: AggregationMetrics }
  readonly caches: { observe(kind: Kind, observer: CacheObserver): void }
  resource(kind: Kind): ResourceDeps
}

interface ChangedGroup {
  readonly group: string
}

export class Aggregation {
  readonly extensions = new Extensions()
  readonly documents: ExtensionDocuments
  readonly proxy: ExtensionProxy
  readonly #availability: AvailabilityController
  readonly #connections: ExtensionConnections
  #onChange: (changed: ChangedGroup) => void = () => {}

  constructor(deps: AggregationDeps) {
    const { lister, caches, outbound = noOutbound, proxyIdentity = () => undefined } = deps
    const { extensions } = this
    const observe = (kind: Kind, observer: CacheObserver) => caches.observe(kind, observer)
    const reads = { get: lister.get.bind(lister), list: lister.list.bind(lister), observe }
    this.#connections = new ExtensionConnections({ outbound, proxyIdentity, caches: reads })
    const onChange = (changed: ChangedGroup) => this.#onChange(changed)
    const calls = { ...deps, connections: this.#connections, extensions, onChange }
    this.documents = new ExtensionDocuments(calls)
    this.#availability = new AvailabilityController({
      ...calls,
      documents: this.documents,
      metrics: deps.serverMetrics.aggregation,
    })
    this.proxy = new ExtensionProxy({
      ...calls,
      onFailure: (extension) =>
        extension.peer === undefined ? this.#availability.check(extension) : deps.peers?.failed(extension),
    })
    observe(apiService, extensions)
    observe(apiService, this.documents)
    observe(apiService, this.#availability.apiServiceObserver)
    observe(apiService, { changed: (now, before) => onChange(groupOf((now ?? before) as APIService)) })
    observe(service, this.#availability.serviceObserver)
    observe(endpointSlice, this.#availability.serviceObserver)
  }

  /** Calls back with each group whose discovery or OpenAPI has changed. */
  onChange(listener: (changed: ChangedGroup) => void): void {
    this.#onChange = listener
  }

  /** Keeps the conditions of APIServices and the documents of extensions, until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#availability.run(signal)
    } finally {
      await this.#connections.close()
    }
  }
}

const groupOf = ({ spec: { group = '' } }: APIService) => ({ group })

const noOutbound: OutboundProvider = {
  connect: () => ({
    send: () => Promise.reject(new Unreachable('this server calls no other servers')),
    close: () => Promise.resolve(),
  }),
  exchange: () => Promise.reject(new Unreachable('this server calls no other servers')),
}
