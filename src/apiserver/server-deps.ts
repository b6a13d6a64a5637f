// What an API server is constructed from.
import type { MaybePromise } from '../base/async/maybe-promise.ts'
import type { FlowRecorder } from '../base/observability/flow-recorder.ts'
import type { Log } from '../base/observability/log.ts'
import type { Metrics } from '../base/observability/metrics.ts'
import type { Random } from '../base/random/random.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Kind } from '../api/kind/kind.ts'
import type { Identity } from '../pki/authority.ts'
import type { OutboundProvider } from '../platform/http/outbound.ts'
import type { Store } from '../store/store.ts'
import type { BootstrapObject } from './bootstrap/bootstrap-object.ts'
import type { BootstrapReconciler } from './bootstrap/bootstrap-reconciler.ts'
import type { ConversionMetrics } from './custom-resources/conversion-metrics.ts'
import type { Policies } from './filters/policies.ts'
import type { FlowRecords } from './flow-endpoints/flow-records.ts'
import type { Explain, ExplainElsewhere } from './flow-endpoints/scheduling-decisions.ts'
import type { HealthCheck } from './health/health.ts'
import type { KubeletConnection } from './kubelet-client/kubelet-connection.ts'
import type { ServerMetrics } from './metrics/server-metrics.ts'
import type { ApiRequest } from './request/request.ts'
import type { PeerRoutes } from './request/extension.ts'
import type { RequestMetrics } from './request/request-metrics.ts'
import type { ServiceRanges } from './strategies/service/service-ranges.ts'
import type { StepClock, UiExplanations } from './ui/ui-api.ts'
import type { UiFiles } from './ui/ui-assets.ts'
import type { ObjectCaches } from './watch-cache/object-caches.ts'

export interface ApiServerDeps {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
  /** Where the flow record is read; that of this server by default. */
  readonly records?: FlowRecords | undefined
  readonly log: Log
  readonly metrics: Metrics
  /** Given, as the request metrics are, because a server that is started again continues them. */
  readonly conversionMetrics: ConversionMetrics
  readonly requestMetrics: RequestMetrics
  readonly serverMetrics: ServerMetrics
  readonly policies: (caches: ObjectCaches) => Policies
  /** Objects that every cluster has. Requests wait until they exist. */
  readonly bootstrapObjects: readonly BootstrapObject[]
  /** Keep objects as they must be after that. */
  readonly reconcilers?: readonly BootstrapReconciler[]
  /** What other API servers of the cluster serve and this one does not. Requests for it are forwarded. */
  readonly peers?: PeerRoutes | undefined
  /** Kinds behind feature gates that are on; none by default. */
  readonly gatedKinds?: readonly Kind[] | undefined
  readonly digest: (text: string) => string
  readonly kubelets: KubeletConnection
  /** Cluster IPs and node ports of Services; upstream's usual ones by default. */
  readonly serviceRanges?: ServiceRanges
  readonly explain?: Explain
  readonly explainElsewhere?: ExplainElsewhere | undefined
  /**
   * Whether the APIs of add-ons are registered, such as the metrics API for `kubectl top`. They are in any case once a
   * kubelet that serves on a port has joined.
   */
  readonly advertisesAddOns?: boolean
  /** Connects to extension servers. Without it no extension is available. */
  readonly outbound?: OutboundProvider
  /** The client certificate of the front proxy, for extension servers. */
  readonly proxyIdentity?: (() => Identity | undefined) | undefined
  /** The health check of the KMS plugins. */
  readonly kmsCheck?: HealthCheck | undefined
  /** Called before the filters, within the flow event of the call. Throws for fault injection. */
  readonly injectFault?: (request: ApiRequest) => void
  /** The web UI. Without it the page is missing. */
  readonly ui?: UiOptions | undefined
}

export interface UiOptions {
  readonly files: () => MaybePromise<UiFiles>
  /** The port of its own, if it has one. */
  readonly port?: () => number | undefined
  /** Sessions and streams follow the machine's time where that of the cluster is virtual. */
  readonly clock?: Clock
  readonly explanations?: UiExplanations
  /** Advances the time, where it is virtual. */
  readonly stepClock?: StepClock | undefined
}
