// KubeletSettings: the configuration of a kubelet; flags have upstream's names.
import { defaultHardThresholds, parseThresholds, type Threshold } from '../eviction/thresholds.ts'
import type { ResourceAmounts } from './allocatable.ts'
import type { ShutdownPeriod } from '../shutdown/shutdown-order.ts'

export interface KubeletSettings {
  /** The cgroup that contains `kubepods`; `/` for the root. */
  readonly cgroupRoot: string
  readonly kubeReserved: ResourceAmounts
  readonly systemReserved: ResourceAmounts
  readonly thresholds: readonly Threshold[]
  /** Maximum grace period of pods that are evicted because of a soft threshold. */
  readonly evictionPodGraceSecondsMax: number
  /** How long a pressure condition is kept after its cause is gone. */
  readonly pressureTransitionMs: number
  readonly imageGc: ImageGcSettings
  readonly podsMax: number
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

export interface ImageGcSettings {
  /** Disk usage at which image garbage collection starts, and the usage it aims for. */
  readonly highPercent: number
  readonly lowPercent: number
  /** Minimum age of an unused image that is removed to free space, and maximum age of any unused image; 0: no bound. */
  readonly ageMsMin: number
  readonly ageMsMax: number
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
  dns: { servers: [], domain: 'cluster.local', resolvConfPath: '/etc/resolv.conf' },
  logRotation: { fileBytesMax: 10 * 1024 * 1024, filesMax: 5 },
  shutdownPeriods: [],
  terminatesPodsOnSigterm: false,
  manifestUrlIntervalMs: 20_000,
}
