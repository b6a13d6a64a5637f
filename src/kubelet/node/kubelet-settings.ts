// KubeletSettings: how a kubelet looks after its node, as flags with upstream's names say it.
import { defaultHardThresholds, parseThresholds, type Threshold } from '../eviction/thresholds.ts'
import type { ResourceAmounts } from './allocatable.ts'
import type { ShutdownPeriod } from '../shutdown/shutdown-order.ts'

export interface KubeletSettings {
  /** Below which control group `kubepods` is made; `/` for the root. */
  readonly cgroupRoot: string
  readonly kubeReserved: ResourceAmounts
  readonly systemReserved: ResourceAmounts
  readonly thresholds: readonly Threshold[]
  /** The longest grace of a pod that a soft threshold evicts. */
  readonly evictionPodGraceSecondsMax: number
  /** How long a condition of pressure stays after its cause is gone. */
  readonly pressureTransitionMs: number
  readonly imageGc: ImageGcSettings
  readonly podsMax: number
  readonly dns: DnsSettings
  readonly logRotation: { readonly fileBytesMax: number; readonly filesMax: number }
  /** How long pods get when the node goes down; none: they are not ended. */
  readonly shutdownPeriods: readonly ShutdownPeriod[]
  /** Whether SIGTERM means that the node goes down: where nobody else tells of it. */
  readonly terminatesPodsOnSigterm: boolean
  /** Where pods of the node itself are found. */
  readonly manifestDirectory?: string
  readonly manifestUrl?: string
  /** How often that address is asked. */
  readonly manifestUrlIntervalMs: number
}

export interface DnsSettings {
  /** Addresses of the cluster's DNS; empty when there is none. */
  readonly servers: readonly string[]
  readonly domain: string
  /** The node's own configuration. */
  readonly resolvConfPath: string
}

export interface ImageGcSettings {
  /** From which share of the disk in use on images are removed, and down to which. */
  readonly highPercent: number
  readonly lowPercent: number
  /** How old an unused image is at least when it is removed for space, and at most in any case; 0: no such bound. */
  readonly ageMsMin: number
  readonly ageMsMax: number
}

/** As upstream's kubelet has it when nothing is said. */
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
