// Metrics of the process and of Node.js under the names of Prometheus' client libraries, so that existing dashboards
// work. Values are read on each scrape.
import type { Gauge, Metrics } from '../../base/observability/metrics.ts'
import type { EventLoopDelay, ProcessSample, ProcessStats } from './process-stats.ts'

const collectionSecondsBounds = [0.001, 0.01, 0.1, 1, 2, 5]

interface Definition {
  readonly name: string
  readonly help: string
  read(sample: ProcessSample): number | undefined
}

const gauges: readonly Definition[] = [
  define(
    'process_start_time_seconds',
    'Start time of the process since unix epoch in seconds.',
    (s) => s.startTimeSeconds,
  ),
  define('process_resident_memory_bytes', 'Resident memory size in bytes.', (s) => s.residentBytes),
  define('process_virtual_memory_bytes', 'Virtual memory size in bytes.', (s) => s.virtualBytes),
  define(
    'process_virtual_memory_max_bytes',
    'Maximum amount of virtual memory available in bytes.',
    (s) => s.virtualBytesMax,
  ),
  define('process_heap_bytes', 'Process heap size in bytes.', (s) => s.dataBytes),
  define('process_open_fds', 'Number of open file descriptors.', (s) => s.openFiles),
  define('process_max_fds', 'Maximum number of open file descriptors.', (s) => s.openFilesMax),
  define('nodejs_heap_size_total_bytes', 'Process heap size from Node.js in bytes.', (s) => s.heapTotalBytes),
  define('nodejs_heap_size_used_bytes', 'Process heap size used from Node.js in bytes.', (s) => s.heapUsedBytes),
  define('nodejs_external_memory_bytes', 'Node.js external memory size in bytes.', (s) => s.externalBytes),
  define('nodejs_eventloop_lag_seconds', 'Lag of event loop in seconds.', (s) => s.eventLoopDelay.mean),
  ...(['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'] as const).map((part: keyof EventLoopDelay) =>
    define(
      `nodejs_eventloop_lag_${part}_seconds`,
      `The ${part} of the recorded event loop delays since the last reading.`,
      (s) => s.eventLoopDelay[part],
    ),
  ),
]

const counters: readonly Definition[] = [
  define('process_cpu_user_seconds_total', 'Total user CPU time spent in seconds.', (s) => s.cpuUserSeconds),
  define('process_cpu_system_seconds_total', 'Total system CPU time spent in seconds.', (s) => s.cpuSystemSeconds),
  define(
    'process_cpu_seconds_total',
    'Total user and system CPU time spent in seconds.',
    (s) => s.cpuUserSeconds + s.cpuSystemSeconds,
  ),
  define(
    'process_network_receive_bytes_total',
    'Number of bytes received by the process over the network.',
    (s) => s.receivedBytes,
  ),
  define(
    'process_network_transmit_bytes_total',
    'Number of bytes sent by the process over the network.',
    (s) => s.transmittedBytes,
  ),
]

function define(name: string, help: string, read: Definition['read']): Definition {
  return { name, help, read }
}

/** Registers the metric families. They are updated until the statistics are disposed of. */
export function registerProcessMetrics(metrics: Metrics, stats: ProcessStats): void {
  const setters = [
    ...gauges.map(({ name, help, read }) => {
      const gauge = metrics.gauge(name, help)
      return (sample: ProcessSample) => {
        const value = read(sample)
        if (value !== undefined) gauge.set({}, value)
      }
    }),
    ...counters.map(({ name, help, read }) => {
      const counter = metrics.counter(name, help)
      let before = 0
      return (sample: ProcessSample) => {
        const value = read(sample) ?? 0
        counter.add({}, Math.max(0, value - before))
        before = value
      }
    }),
    heapSpaces(metrics),
    activeResources(metrics),
    versionInfo(metrics),
  ]
  const collections = metrics.histogram(
    'nodejs_gc_duration_seconds',
    'Garbage collection duration by kind, one of major, minor, incremental or weakcb.',
    collectionSecondsBounds,
    ['kind'],
  )
  stats.onGarbageCollection((kind, seconds) => collections.observe({ kind }, seconds))
  metrics.beforeText(() => {
    const sample = stats.read()
    for (const set of setters) set(sample)
  })
}

function heapSpaces(metrics: Metrics): (sample: ProcessSample) => void {
  const gauge = (part: string) =>
    metrics.gauge(`nodejs_heap_space_size_${part}_bytes`, `Process heap space size ${part} from Node.js in bytes.`, [
      'space',
    ])
  const total = gauge('total')
  const used = gauge('used')
  const available = gauge('available')
  return ({ heapSpaces: spaces }) => {
    for (const { name: space, totalBytes, usedBytes, availableBytes } of spaces) {
      total.set({ space }, totalBytes)
      used.set({ space }, usedBytes)
      available.set({ space }, availableBytes)
    }
  }
}

const isRequest = (type: string): boolean => /Req(Wrap|Callback|Promise)$/.test(type)
const isTimer = (type: string): boolean => type === 'Timeout' || type === 'Immediate'

/** Resources are handles, requests and timers; a type that has disappeared is reported as 0. */
function activeResources(metrics: Metrics): (sample: ProcessSample) => void {
  const families = [
    family(metrics, 'resources', 'resources that are currently keeping the event loop alive', () => true),
    family(metrics, 'handles', 'active handles', (type) => !isRequest(type) && !isTimer(type)),
    family(metrics, 'requests', 'active requests', isRequest),
  ]
  return ({ activeResources: counts }) => {
    for (const set of families) set(counts)
  }
}

function family(metrics: Metrics, name: string, noun: string, belongs: (type: string) => boolean) {
  const byType: Gauge = metrics.gauge(`nodejs_active_${name}`, `Number of ${noun}, by type.`, ['type'])
  const all: Gauge = metrics.gauge(`nodejs_active_${name}_total`, `Total number of ${noun}.`)
  const known = new Set<string>()
  return (counts: ReadonlyMap<string, number>): void => {
    for (const type of counts.keys()) if (belongs(type)) known.add(type)
    let total = 0
    for (const type of known) {
      const count = counts.get(type) ?? 0
      byType.set({ type }, count)
      total += count
    }
    all.set({}, total)
  }
}

function versionInfo(metrics: Metrics): (sample: ProcessSample) => void {
  const gauge = metrics.gauge('nodejs_version_info', 'Node.js version info.', ['version', 'major', 'minor', 'patch'])
  return ({ version }) => {
    const [major = '', minor = '', patch = ''] = version.replace(/^v/, '').split('.')
    gauge.set({ version, major, minor, patch }, 1)
  }
}
