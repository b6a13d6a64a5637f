// The flags of the kubelet of this machine, with upstream's names, and the settings that result from them.
import { durationMs } from '../../apiserver/config/config-reader.ts'
import { defaultHardThresholds, parseSignals, parseThresholds } from '../../kubelet/eviction/thresholds.ts'
import type { ResourceAmounts } from '../../kubelet/resources/resource-amounts.ts'
import { defaultKubeletSettings, type KubeletSettings } from '../../kubelet/node/kubelet-settings.ts'
import { shutdownPeriods, type ShutdownPeriod } from '../../kubelet/shutdown/shutdown-order.ts'
import { quantityNanos, quantityUnits } from '../../schema/scalar/quantity.ts'

export const kubeletFlags = {
  'cgroup-root': { value: '<path>', help: 'the cgroup in which the cgroups of pods are created (/)' },
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
  'image-maximum-gc-age': { value: '<time>', help: 'how long an unused image is kept; 0 for ever (0s)' },
  'kube-reserved': { value: '<list>', help: 'resources reserved for Kubernetes itself: cpu=200m,memory=500Mi' },
  'manifest-url': { value: '<url>', help: 'an address from which static pods are read' },
  'max-pods': { value: '<n>', help: 'the number of pods that the node accepts (110)' },
  'minimum-image-ttl-duration': { value: '<time>', help: 'how long an unused image is kept at least (2m)' },
  'pod-manifest-path': {
    value: '<directory>',
    help: 'a directory of static pod manifests (node/manifests in the data directory)',
  },
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
  const about = <T>(flag: KubeletFlag, read: () => T): T => {
    try {
      return read()
    } catch (error) {
      throw new Error(`--${flag}: ${(error as Error).message}`, { cause: error })
    }
  }
  const time = (flag: KubeletFlag, fallback: number) => about(flag, () => timeIn(flags[flag], fallback))
  const count = (flag: KubeletFlag, fallback: number, most: number) =>
    about(flag, () => countIn(flags[flag], fallback, most))
  const softGraceMs = about(
    'eviction-soft-grace-period',
    () =>
      new Map(
        [...parseSignals(flags['eviction-soft-grace-period'] ?? '', '=')].map(([signal, text]) => [
          signal,
          timeIn(text, 0),
        ]),
      ),
  )
  const shutdown = {
    graceMs: time('shutdown-grace-period', 0),
    criticalMs: time('shutdown-grace-period-critical-pods', 0),
    byPriority: about('shutdown-grace-period-by-pod-priority', () =>
      periodsIn(flags['shutdown-grace-period-by-pod-priority']),
    ),
  }
  const { imageGc, evictionPodGraceSecondsMax, pressureTransitionMs, podsMax, dns, logRotation } =
    defaultKubeletSettings
  return {
    cgroupRoot: flags['cgroup-root'] ?? defaultKubeletSettings.cgroupRoot,
    kubeReserved: about('kube-reserved', () => amountsIn(flags['kube-reserved'])),
    systemReserved: about('system-reserved', () => amountsIn(flags['system-reserved'])),
    thresholds: about('eviction-hard', () =>
      parseThresholds({
        hard: flags['eviction-hard'] ?? defaultHardThresholds,
        soft: flags['eviction-soft'] ?? '',
        softGraceMs,
        minimumReclaim: flags['eviction-minimum-reclaim'] ?? '',
      }),
    ),
    evictionPodGraceSecondsMax: count('eviction-max-pod-grace-period', evictionPodGraceSecondsMax, 1_000_000),
    pressureTransitionMs: time('eviction-pressure-transition-period', pressureTransitionMs),
    imageGc: {
      highPercent: count('image-gc-high-threshold', imageGc.highPercent, 100),
      lowPercent: count('image-gc-low-threshold', imageGc.lowPercent, 100),
      ageMsMin: time('minimum-image-ttl-duration', imageGc.ageMsMin),
      ageMsMax: time('image-maximum-gc-age', imageGc.ageMsMax),
    },
    podsMax: count('max-pods', podsMax, podsMaxMax),
    dns: {
      servers: listIn(flags['cluster-dns']),
      domain: flags['cluster-domain'] ?? dns.domain,
      resolvConfPath: flags['resolv-conf'] ?? dns.resolvConfPath,
    },
    logRotation: {
      fileBytesMax: about('container-log-max-size', () =>
        bytesIn(flags['container-log-max-size'], logRotation.fileBytesMax),
      ),
      filesMax: count('container-log-max-files', logRotation.filesMax, logFilesMax),
    },
    shutdownPeriods: about('shutdown-grace-period', () => shutdownPeriods(shutdown)),
    terminatesPodsOnSigterm: about('shutdown-on-sigterm', () => switchIn(flags['shutdown-on-sigterm'])),
    manifestUrlIntervalMs: time('http-check-frequency', defaultKubeletSettings.manifestUrlIntervalMs),
    ...(flags['pod-manifest-path'] === undefined ? {} : { manifestDirectory: flags['pod-manifest-path'] }),
    ...(flags['manifest-url'] === undefined
      ? {}
      : { manifestUrl: about('manifest-url', () => urlIn(flags['manifest-url'])) }),
  }
}

const podsMaxMax = 10_000
const logFilesMax = 1_000

/** `a,b` */
export const listIn = (text = ''): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

function bytesIn(text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback
  if (quantityNanos(text) === undefined) throw new Error(`${JSON.stringify(text)} is no amount such as 10Mi`)
  return quantityUnits(text)
}

export function timeIn(text: string | undefined, fallback: number): number {
  const ms = text === undefined ? fallback : durationMs(text)
  if (ms === undefined) throw new Error(`${JSON.stringify(text)} is not a duration such as 2m`)
  return ms
}

function urlIn(text = ''): string {
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? ''))
    throw new Error(`${JSON.stringify(text)} is no address of HTTP`)
  return text
}

export function countIn(text: string | undefined, fallback: number, most: number): number {
  if (text === undefined) return fallback
  if (!/^\d{1,9}$/.test(text) || Number(text) > most)
    throw new Error(`${JSON.stringify(text)} is no whole number up to ${most}`)
  return Number(text)
}

function switchIn(text = 'false'): boolean {
  if (text !== 'true' && text !== 'false') throw new Error(`${JSON.stringify(text)} is neither true nor false`)
  return text === 'true'
}

/** `0=30s,2000000000=10s` */
const periodsIn = (text = ''): readonly ShutdownPeriod[] =>
  text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [priority = '', time = ''] = part.split('=').map((half) => half.trim())
      const ms = durationMs(time)
      if (!/^-?\d{1,10}$/.test(priority) || ms === undefined)
        throw new Error(`${JSON.stringify(part)} is no period such as 2000000000=10s`)
      return { priority: Number(priority), seconds: Math.floor(ms / 1000) }
    })

/** `cpu=200m,memory=500Mi` */
function amountsIn(text = ''): ResourceAmounts {
  const pairs = text.split(',').filter((part) => part !== '')
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', amount = ''] = pair.split('=').map((part) => part.trim())
      if (name === '' || quantityNanos(amount) === undefined)
        throw new Error(`${JSON.stringify(pair)} is no amount such as memory=500Mi`)
      return [name, amount]
    }),
  )
}
