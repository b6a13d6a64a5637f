// The flags of the kubelet of this machine, with upstream's names, and the settings that result from them.
import type { EvictionSettings } from '../../kubelet/eviction/eviction-manager.ts'
import { defaultHardThresholds, parseThresholds } from '../../kubelet/eviction/thresholds.ts'
import { defaultKubeletSettings, type KubeletSettings } from '../../kubelet/node/kubelet-settings.ts'
import { checkSysctlPattern } from '../../kubelet/node/sysctl-admission.ts'
import { shutdownPeriods } from '../../kubelet/shutdown/shutdown-order.ts'
import {
  amountsIn,
  bytesIn,
  countIn,
  listIn,
  periodsIn,
  signalTimesIn,
  switchIn,
  timeIn,
  urlIn,
} from './kubelet-flag-values.ts'

export const kubeletFlags = {
  'allowed-unsafe-sysctls': {
    value: '<list>',
    help: 'sysctls that pods may set besides the safe ones: kernel.msg*,net.core.somaxconn (none)',
  },
  'cgroup-root': { value: '<path>', help: 'the cgroup in which the cgroups of pods are created (/)' },
  'cloud-provider': {
    value: 'external',
    help: 'a cloud controller manager initializes the node and reports its addresses (no cloud)',
  },
  'cluster-dns': {
    value: '<addresses>',
    help: 'addresses of the DNS servers of the cluster, separated by commas (none)',
  },
  'cluster-domain': { value: '<domain>', help: 'the DNS domain of Services (cluster.local)' },
  'container-log-max-files': { value: '<n>', help: 'the number of log files kept per container (5)' },
  'container-log-max-size': { value: '<quantity>', help: 'the size at which a container log is rotated (10Mi)' },
  'eviction-hard': {
    value: '<list>',
    help: 'thresholds for immediate eviction: memory.available<100Mi',
  },
  'eviction-max-pod-grace-period': {
    value: '<seconds>',
    help: 'the longest grace period of pods evicted by a soft threshold (0)',
  },
  'eviction-minimum-reclaim': {
    value: '<list>',
    help: 'how much more than the threshold is reclaimed: imagefs.available=2Gi',
  },
  'eviction-pressure-transition-period': {
    value: '<time>',
    help: 'how long a pressure condition is kept after it has ended (5m)',
  },
  'eviction-soft': { value: '<list>', help: 'thresholds for eviction after a grace period' },
  'eviction-soft-grace-period': {
    value: '<list>',
    help: 'the grace periods of soft thresholds: memory.available=1m30s',
  },
  'http-check-frequency': { value: '<time>', help: 'how often --manifest-url is read (20s)' },
  'image-gc-high-threshold': { value: '<percent>', help: 'the disk usage above which unused images are removed (85)' },
  'image-gc-low-threshold': { value: '<percent>', help: 'the disk usage at which removal stops (80)' },
  'image-maximum-gc-age': { value: '<time>', help: 'how long an unused image is kept; 0 forever (0s)' },
  'kube-reserved': { value: '<list>', help: 'resources reserved for Kubernetes itself: cpu=200m,memory=500Mi' },
  'manifest-url': { value: '<url>', help: 'an address from which static pods are read' },
  'max-pods': { value: '<n>', help: 'the number of pods that the node accepts (110)' },
  'minimum-image-ttl-duration': { value: '<time>', help: 'how long an unused image is kept at least (2m)' },
  'pod-manifest-path': {
    value: '<directory>',
    help: 'a directory of static pod manifests (node/manifests in the data directory)',
  },
  'provider-id': { value: '<id>', help: 'the instance of the node in the cloud: aws:///eu-west-1a/i-0123' },
  'resolv-conf': { value: '<file>', help: 'the DNS configuration of the node (/etc/resolv.conf)' },
  'shutdown-grace-period': {
    value: '<time>',
    help: 'how long a shutdown of this machine waits for pods to end; 0 does not wait (0s)',
  },
  'shutdown-grace-period-by-pod-priority': {
    value: '<list>',
    help: 'grace periods by pod priority: 0=30s,2000000000=10s',
  },
  'shutdown-grace-period-critical-pods': {
    value: '<time>',
    help: 'the part of --shutdown-grace-period that critical pods get (0s)',
  },
  'shutdown-on-sigterm': {
    value: 'true|false',
    help: 'end pods as in a shutdown when this process gets SIGTERM; for machines without systemd-logind (false)',
  },
  'system-reserved': {
    value: '<list>',
    help: 'resources reserved for other processes of the machine: cpu=200m,memory=500Mi',
  },
} as const

export type KubeletFlag = keyof typeof kubeletFlags
export type KubeletFlagValues = Readonly<Partial<Record<KubeletFlag, string>>>

/** Throws with the name of an invalid flag. */
export function kubeletSettings(flags: KubeletFlagValues): KubeletSettings {
  const reader = flagReader(flags)
  const { read, count } = reader
  const { cgroupRoot, podsMax, dns, logRotation } = defaultKubeletSettings
  return {
    ...evictionSettings(flags, reader),
    cgroupRoot: flags['cgroup-root'] ?? cgroupRoot,
    kubeReserved: read('kube-reserved', amountsIn),
    systemReserved: read('system-reserved', amountsIn),
    imageGc: imageGcSettings(reader),
    podsMax: count('max-pods', podsMax, podsMaxMax),
    allowedUnsafeSysctls: read('allowed-unsafe-sysctls', (text) => listIn(text).map(checkSysctlPattern)),
    dns: {
      servers: listIn(flags['cluster-dns']),
      domain: flags['cluster-domain'] ?? dns.domain,
      resolvConfPath: flags['resolv-conf'] ?? dns.resolvConfPath,
    },
    logRotation: {
      fileBytesMax: read('container-log-max-size', (text) => bytesIn(text, logRotation.fileBytesMax)),
      filesMax: count('container-log-max-files', logRotation.filesMax, logFilesMax),
    },
    shutdownPeriods: shutdownSettings(reader),
    terminatesPodsOnSigterm: read('shutdown-on-sigterm', switchIn),
    ...cloudSettings(flags, reader),
    ...manifestSettings(flags, reader),
  }
}

const podsMaxMax = 10_000
const logFilesMax = 1_000
const evictionGraceSecondsMax = 1_000_000

interface FlagReader {
  /** Errors name the flag. */
  read<T>(flag: KubeletFlag, parse: (text: string | undefined) => T): T
  time(flag: KubeletFlag, fallback: number): number
  count(flag: KubeletFlag, fallback: number, most: number): number
}

function flagReader(flags: KubeletFlagValues): FlagReader {
  const read: FlagReader['read'] = (flag, parse) => {
    try {
      return parse(flags[flag])
    } catch (error) {
      throw new Error(`--${flag}: ${(error as Error).message}`, { cause: error })
    }
  }
  return {
    read,
    time: (flag, fallback) => read(flag, (text) => timeIn(text, fallback)),
    count: (flag, fallback, most) => read(flag, (text) => countIn(text, fallback, most)),
  }
}

function evictionSettings(flags: KubeletFlagValues, { read, time, count }: FlagReader): EvictionSettings {
  const softGraceMs = read('eviction-soft-grace-period', signalTimesIn)
  const { evictionPodGraceSecondsMax, pressureTransitionMs } = defaultKubeletSettings
  return {
    thresholds: read('eviction-hard', (hard = defaultHardThresholds) =>
      parseThresholds({
        hard,
        soft: flags['eviction-soft'] ?? '',
        softGraceMs,
        minimumReclaim: flags['eviction-minimum-reclaim'] ?? '',
      }),
    ),
    evictionPodGraceSecondsMax: count(
      'eviction-max-pod-grace-period',
      evictionPodGraceSecondsMax,
      evictionGraceSecondsMax,
    ),
    pressureTransitionMs: time('eviction-pressure-transition-period', pressureTransitionMs),
  }
}

function imageGcSettings({ time, count }: FlagReader): KubeletSettings['imageGc'] {
  const { highPercent, lowPercent, ageMsMin, ageMsMax } = defaultKubeletSettings.imageGc
  return {
    highPercent: count('image-gc-high-threshold', highPercent, 100),
    lowPercent: count('image-gc-low-threshold', lowPercent, 100),
    ageMsMin: time('minimum-image-ttl-duration', ageMsMin),
    ageMsMax: time('image-maximum-gc-age', ageMsMax),
  }
}

function shutdownSettings({ read, time }: FlagReader): KubeletSettings['shutdownPeriods'] {
  const shutdown = {
    graceMs: time('shutdown-grace-period', 0),
    criticalMs: time('shutdown-grace-period-critical-pods', 0),
    byPriority: read('shutdown-grace-period-by-pod-priority', periodsIn),
  }
  return read('shutdown-grace-period', () => shutdownPeriods(shutdown))
}

function cloudSettings(
  flags: KubeletFlagValues,
  { read }: FlagReader,
): Pick<KubeletSettings, 'cloudProvider' | 'providerId'> {
  const isExternal = read('cloud-provider', (text = '') => {
    if (text !== '' && text !== 'external') throw new Error(`${JSON.stringify(text)} is not external`)
    return text === 'external'
  })
  const providerId = flags['provider-id'] ?? ''
  return { ...(isExternal ? { cloudProvider: 'external' } : {}), ...(providerId === '' ? {} : { providerId }) }
}

function manifestSettings(
  flags: KubeletFlagValues,
  { read, time }: FlagReader,
): Pick<KubeletSettings, 'manifestDirectory' | 'manifestUrl' | 'manifestUrlIntervalMs'> {
  const directory = flags['pod-manifest-path']
  return {
    manifestUrlIntervalMs: time('http-check-frequency', defaultKubeletSettings.manifestUrlIntervalMs),
    ...(directory === undefined ? {} : { manifestDirectory: directory }),
    ...(flags['manifest-url'] === undefined ? {} : { manifestUrl: read('manifest-url', urlIn) }),
  }
}
