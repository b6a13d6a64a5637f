// KubeletSettings: the configuration of a kubelet; flags have upstream's names.
import type { EvictionSettings } from '../eviction/eviction-manager.ts'
import { defaultHardThresholds, parseThresholds } from '../eviction/thresholds.ts'
import type { ImageGcSettings } from '../images/image-gc-manager.ts'
import type { ResourceAmounts } from '../resources/resource-amounts.ts'
import type { ShutdownPeriod } from '../shutdown/shutdown-order.ts'

export interface KubeletSettings extends EvictionSettings {
  /** The cgroup that contains `kubepods`; `/` for the root. */
  readonly cgroupRoot: string
  readonly kubeReserved: ResourceAmounts
  readonly systemReserved: ResourceAmounts
  readonly imageGc: ImageGcSettings
  readonly podsMax: number
  /** Sysctls that pods may set besides the safe ones; a name may end with `*`. */
  readonly allowedUnsafeSysctls: readonly string[]
  /** `external`: a cloud controller manager initializes the node and reports its addresses. */
  readonly cloudProvider?: 'external'
  /** The instance of the node in the cloud, if the kubelet knows it. */
  readonly providerId?: string
  readonly dns: DnsSettings
  readonly logRotation: { readonly fileBytesMax: number; readonly filesMax: number }
  /** Grace periods of pods at a node shutdown; empty: graceful shutdown is disabled. */
  readonly shutdownPeriods: readonly ShutdownPeriod[]
  /** Whether SIGTERM to the kubelet is treated as a node shutdown, where no service manager announces one. */
  readonly terminatesPodsOnSigterm: boolean
  /** Directory and URL of static pod manifests. */
  readonly manifestDirectory?: string
  readonly manifestUrl?: string
  /** How often the URL is read. */
  readonly manifestUrlIntervalMs: number
}

export interface DnsSettings {
  /** IP addresses of the cluster's DNS service; empty when there is none. */
  readonly servers: readonly string[]
  readonly domain: string
  /** The node's resolv.conf. */
  readonly resolvConfPath: string
}

/** Upstream's defaults. */
export const defaultKubeletSettings: KubeletSettings = {
  cgroupRoot: '/',
  kubeReserved: {},
  systemReserved: {},
  thresholds: parseThresholds({
    hard: defaultHardThresholds,
    soft: '',
    softGraceMs: new Map(),
    minimumReclaim: '',
  }),
  evictionPodGraceSecondsMax: 0,
  pressureTransitionMs: 300_000,
  imageGc: { highPercent: 85, lowPercent: 80, ageMsMin: 120_000, ageMsMax: 0 },
  podsMax: 110,
  allowedUnsafeSysctls: [],
  dns: { servers: [], domain: 'cluster.local', resolvConfPath: '/etc/resolv.conf' },
  logRotation: { fileBytesMax: 10 * 1024 * 1024, filesMax: 5 },
  shutdownPeriods: [],
  terminatesPodsOnSigterm: false,
  manifestUrlIntervalMs: 20_000,
}
