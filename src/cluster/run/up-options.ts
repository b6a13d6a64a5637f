// Options of `up`, and their defaults.
import { flowEventsDefault } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import type { ListenLimits } from '../../platform/limits/listen-limits.ts'
import type { SchedulerConfiguration } from '../../scheduler/framework/scheduler-configuration.ts'
import type { GivenCertificates } from '../certificates/given-certificates.ts'
import type { DataDirectory } from '../data-directory/open-directory.ts'
import type { StoreChoice } from '../data-directory/open-store.ts'
import type { ControllerFlagValues } from '../flags/controller-flags.ts'
import type { IngressFlagValues } from '../flags/ingress-flags.ts'
import type { KubeletFlagValues } from '../flags/kubelet-flags.ts'
import type { NodeRangeFlagValues } from '../flags/node-ranges.ts'
import type { PolicyFlagValues } from '../flags/policy-flags.ts'
import type { ServiceRangeFlagValues } from '../flags/service-ranges.ts'
import type { LoadBalancerChoice } from '../flags/load-balancer-flags.ts'
import type { SnapshotChoices } from '../snapshots/snapshot-schedule.ts'
import type { StopReport } from './stop-progress.ts'

export interface UpOptions {
  readonly dataDirectory: string
  /** The same directory, if the caller has opened it; the caller closes it. */
  readonly directory?: DataDirectory | undefined
  /** The cluster's name in kubeconfigs. */
  readonly name?: string
  /** A kubeconfig that the cluster's entries are added to, besides the one in the data directory. */
  readonly kubeconfigPath: string
  readonly store: StoreChoice
  readonly host: string
  readonly port: number
  /** Further names and addresses for the API server's certificate. */
  readonly tlsSans?: readonly string[]
  /** Replace the keys and certificates that the cluster creates; then no kubeconfigs are written. */
  readonly given?: GivenCertificates | undefined
  /** The address in the endpoints of the Service `kubernetes`; that of the listener by default. */
  readonly advertisedHost?: string | undefined
  readonly nodes: number
  /** Whether this machine becomes a node with real containers: required, if possible, or not at all. */
  readonly containers?: 'must' | 'should' | 'none'
  /** Whether a stop ends the containers of this machine. Otherwise they keep running, and the next start adopts them. */
  readonly endsContainers?: boolean
  /** Flags for authentication, authorization, admission, audit and encryption. */
  readonly policyFlags?: PolicyFlagValues
  /** Flags for pod addresses. */
  readonly nodeRangeFlags?: NodeRangeFlagValues
  /** Flags for cluster IPs and node ports. */
  readonly serviceRangeFlags?: ServiceRangeFlagValues
  /** Flags of single controllers. */
  readonly controllerFlags?: ControllerFlagValues
  /** Flags of the ingress controller. */
  readonly ingressFlags?: IngressFlagValues
  /** Flags of this machine's kubelet. */
  readonly kubeletFlags?: KubeletFlagValues
  /** The port of that kubelet; 0 for none. By default 10250, unless `host` is a loopback address. */
  readonly kubeletPort?: number | undefined
  readonly log: Log
  readonly schedulerConfiguration?: SchedulerConfiguration
  /** Number of recorded flow events; 0 records none. */
  readonly flowEvents?: number
  /** How many of them are kept across a restart. */
  readonly flowKept?: number
  /** Limits of connections to the API server and their memory. */
  readonly limits?: Partial<ListenLimits>
  /** Validity of the certificates that the cluster signs: `8760h`. */
  readonly signingDuration?: string | undefined
  /** Installs the kinds of volume snapshots, and runs their controller. */
  readonly hasVolumeSnapshots?: boolean
  /** Installs the kinds of the Gateway API, and serves Gateways where Ingresses are served. */
  readonly hasGatewayApi?: boolean
  /** Whether the feature gate UnknownVersionInteroperabilityProxy is off. */
  readonly hasNoPeerProxy?: boolean
  /** Whether the feature gate CoordinatedLeaderElection is on. */
  readonly hasCoordinatedElection?: boolean
  /** What implements Services of type LoadBalancer: the nodes' own addresses by default. */
  readonly loadBalancers?: LoadBalancerChoice
  /** When snapshots of the cluster are taken. */
  readonly snapshots?: SnapshotChoices | undefined
  /** A folder of manifests that are applied; by default that of the data directory. */
  readonly manifests?: string | undefined
  /** A collector of OpenTelemetry that gets the flow record as spans. */
  readonly otlpEndpoint?: URL | undefined
  /** A port for the web UI only; 0: any free one. Without it, the UI is on the port of the API server. */
  readonly uiPort?: number | undefined
  /** The address of that port. */
  readonly uiHost?: string
  /** Runs the API server without the other components. */
  readonly isAlone?: boolean
  /** Called with what the start waits for. */
  readonly onProgress?: (what: string) => void
  /** Called when the real node has started, or a simulated one instead. */
  readonly onNode?: (outcome: NodeOutcome) => void
  /** Called with what a slow stop waits for. */
  readonly onStopping?: StopReport
}

export type NodeOutcome =
  | { readonly kind: 'real'; readonly name: string; readonly runtime: string }
  /** A simulated node runs instead. */
  | { readonly kind: 'simulated'; readonly why: string }

/** The options with their defaults. */
export type ResolvedUpOptions = Required<UpOptions>

export const resolveUpOptions = (options: UpOptions): ResolvedUpOptions => ({
  directory: undefined,
  name: 'coxswain',
  tlsSans: [],
  given: undefined,
  advertisedHost: undefined,
  containers: 'none',
  endsContainers: false,
  policyFlags: {},
  nodeRangeFlags: {},
  serviceRangeFlags: {},
  controllerFlags: {},
  ingressFlags: {},
  kubeletFlags: {},
  kubeletPort: undefined,
  schedulerConfiguration: {},
  flowEvents: flowEventsDefault,
  flowKept: 0,
  limits: {},
  signingDuration: undefined,
  hasVolumeSnapshots: false,
  hasGatewayApi: false,
  hasNoPeerProxy: false,
  hasCoordinatedElection: false,
  loadBalancers: 'node-addresses',
  snapshots: undefined,
  manifests: undefined,
  otlpEndpoint: undefined,
  uiPort: undefined,
  uiHost: '127.0.0.1',
  isAlone: false,
  onProgress: () => {},
  onNode: () => {},
  onStopping: () => {},
  ...options,
})
