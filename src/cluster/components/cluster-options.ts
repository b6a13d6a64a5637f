// What a cluster in one process consists of.
import type { Random } from '../../base/random/random.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Metrics } from '../../base/observability/metrics.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { LegacyTokenUsage } from '../../apiserver/authentication/legacy-token-usage.ts'
import type { Policies } from '../../apiserver/filters/policies.ts'
import type { HealthCheck } from '../../apiserver/health/health.ts'
import type { ApiServer } from '../../apiserver/server.ts'
import type { ApiServerDeps } from '../../apiserver/server-deps.ts'
import type { ServiceRanges } from '../../apiserver/strategies/service/service-ranges.ts'
import type { StepClock } from '../../apiserver/ui/ui-api.ts'
import type { ObjectCaches } from '../../apiserver/watch-cache/object-caches.ts'
import type { SimulatedCloud } from '../../cloud/simulated/simulated-cloud.ts'
import type { ControllerSettings } from '../../controllers/runtime/controller-settings.ts'
import type { KubeletSettings } from '../../kubelet/node/kubelet-settings.ts'
import type { SimulatedStorage } from '../../machine/csi/simulated/simulated-csi-driver.ts'
import type { LinkFaults } from '../../machine/network/link-faults.ts'
import type { SimulatedRuntimeOptions } from '../../machine/runtime/simulated-runtime.ts'
import type { Identity } from '../../pki/authority.ts'
import type { OutboundTls } from '../../platform/http/outbound.ts'
import type { SchedulerConfiguration } from '../../scheduler/framework/scheduler-configuration.ts'
import type { Store } from '../../store/store.ts'
import type { IngressChoices } from '../flags/ingress-flags.ts'
import type { LoadBalancerChoice } from '../flags/load-balancer-flags.ts'
import type { SnapshotSchedule } from '../snapshots/snapshot-schedule.ts'
import type { Client } from '../../client/client.ts'
import type { ProgramVersions } from '../../client/coordinated-election/lease-candidacy.ts'
import type { PeerServers } from '../peers/peer-servers.ts'
import type { ManifestSettings } from './manifests.ts'

export interface ClusterOptions {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics?: Metrics
  readonly store: Store
  /** Authentication, authorization, admission, audit and fairness. */
  readonly policies: (caches: ObjectCaches) => Policies
  /** Uses of legacy tokens. They are not tracked when omitted. */
  readonly tokenUses?: LegacyTokenUsage
  /** Number of simulated nodes. */
  readonly nodes: number
  /**
   * The identity of this process, if several processes use the store. Components that only one process may run are
   * started when it is elected.
   */
  readonly identity?: string
  /** Number of controller managers, of which one leads. 1 by default. */
  readonly controllerManagers?: number
  readonly controllerSettings?: ControllerSettings
  readonly simulation?: SimulatedRuntimeOptions
  /** Faults of the links between simulated pods. */
  readonly linkFaults?: LinkFaults
  /** Settings of the kubelets of simulated nodes. */
  readonly kubeletSettings?: KubeletSettings
  /** Client certificate for kubelets in other processes. Without it they are not called. */
  readonly kubeletTls?: OutboundTls
  /** The client certificate of the front proxy, which extension servers trust. */
  readonly proxyIdentity?: () => Identity | undefined
  /** Whether metrics.k8s.io is registered from the start. */
  readonly advertisesAddOns?: boolean
  /** The health check of KMS plugins for encryption at rest. */
  readonly kmsCheck?: HealthCheck | undefined
  readonly flowEvents?: number
  /** The other API servers, where several processes use the store. Their flow records are read with that of this process. */
  readonly peers?: (client: Client) => PeerServers
  /** Whether requests for what only other servers serve are not forwarded to them. */
  readonly hasNoPeerProxy?: boolean
  /** The storage driver of simulated nodes, with its sidecars. */
  readonly csi?: SimulatedStorage | undefined
  /** The cloud of simulated nodes, with its controllers. */
  readonly cloud?: SimulatedCloud | undefined
  /** What implements Services of type LoadBalancer; nothing by default, as in upstream without a cloud. */
  readonly loadBalancers?: LoadBalancerChoice
  /** Whether the kinds of volume snapshots and their controller are installed. */
  readonly hasVolumeSnapshots?: boolean
  /** Whether the kinds of the Gateway API are installed, and Gateways served where Ingresses are. */
  readonly hasGatewayApi?: boolean
  /** With coordinated leader election: the versions with which the components stand. LeaseCandidates are served then. */
  readonly coordinatedElection?: ProgramVersions | undefined
  /** Cluster IPs and node ports of Services. */
  readonly serviceRanges?: ServiceRanges
  readonly schedulerConfiguration?: SchedulerConfiguration
  /** Whether there is the StorageClass `local-path`, whose volumes are directories of the nodes of this process. */
  readonly localPath?: boolean
  /** Where Ingresses are served; nowhere when omitted. */
  readonly ingress?: IngressChoices
  /** When snapshots of the cluster are taken; never when omitted. */
  readonly snapshots?: SnapshotSchedule | undefined
  /** A folder of manifests that are applied; none when omitted. */
  readonly manifests?: ManifestSettings | undefined
  /** Creates the API server; tests inject faults with it. */
  readonly newApiServer?: (deps: ApiServerDeps) => ApiServer
  /** The port of the web UI, if it has one of its own. */
  readonly uiPort?: () => number | undefined
  /** Advances the time for the web UI, where it is virtual. */
  readonly stepClock?: StepClock
}
