// Process statistics from Node.js and, on Linux, from /proc.
import { readdirSync, readFileSync } from 'node:fs'
import { constants, monitorEventLoopDelay, PerformanceObserver, performance } from 'node:perf_hooks'
import { getHeapSpaceStatistics } from 'node:v8'
import type {
  GarbageCollectionKind,
  EventLoopDelay,
  ProcessSample,
  ProcessStats,
  ProcessStatsProvider,
} from '../../process/process-stats.ts'

/** The period of the native timer that measures the event loop; it runs no JavaScript. */
const resolutionMs = 20
const nanos = 1e9

const collectionKinds: ReadonlyMap<number, GarbageCollectionKind> = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
])

export const nodeProcessStats: ProcessStatsProvider = { start: () => new NodeProcessStats() }

class NodeProcessStats implements ProcessStats {
  readonly #delay = monitorEventLoopDelay({ resolution: resolutionMs })
  #observer: PerformanceObserver | undefined

  constructor() {
    this.#delay.enable()
  }

  onGarbageCollection(listener: (kind: GarbageCollectionKind, seconds: number) => void): void {
    this.#observer?.disconnect()
    this.#observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { detail, duration } = entry as PerformanceEntry & { readonly detail?: { readonly kind?: number } }
        const kind = collectionKinds.get(detail?.kind ?? 0)
        if (kind !== undefined) listener(kind, duration / 1000)
      }
    })
    this.#observer.observe({ entryTypes: ['gc'] })
  }

  read(): ProcessSample {
    const { user, system } = process.cpuUsage()
    const { rss, heapTotal, heapUsed, external } = process.memoryUsage()
    const status = textOf('/proc/self/status')
    const limits = textOf('/proc/self/limits')
    return {
      startTimeSeconds: performance.timeOrigin / 1000,
      cpuUserSeconds: user / 1e6,
      cpuSystemSeconds: system / 1e6,
      residentBytes: rss,
      virtualBytes: kilobytesOf(status, virtualSize),
      virtualBytesMax: addressSpaceMax(limits),
      dataBytes: kilobytesOf(status, dataSize),
      ...networkBytes(textOf('/proc/self/net/netstat')),
      openFiles: openFiles(),
      openFilesMax: numberOf(/^Max open files +(\d+)/m.exec(limits)),
      heapTotalBytes: heapTotal,
      heapUsedBytes: heapUsed,
      externalBytes: external,
      heapSpaces: getHeapSpaceStatistics().map((space) => ({
        name: space.space_name.replace(/_space$/, ''),
        totalBytes: space.space_size,
        usedBytes: space.space_used_size,
        availableBytes: space.space_available_size,
      })),
      eventLoopDelay: this.#takeDelay(),
      activeResources: countsOf(process.getActiveResourcesInfo()),
      version: process.version,
    }
  }

  [Symbol.dispose](): void {
    this.#delay.disable()
    this.#observer?.disconnect()
  }

  /** The histogram has the time between two timers; the delay is what exceeds their period. */
  #takeDelay(): EventLoopDelay {
    const delay = this.#delay
    const beyond = (value: number): number =>
      Number.isFinite(value) && delay.count > 0 ? Math.max(0, value / nanos - resolutionMs / 1000) : 0
    const taken = {
      min: beyond(delay.min),
      max: beyond(delay.max),
      mean: beyond(delay.mean),
      stddev: Number.isFinite(delay.stddev) ? delay.stddev / nanos : 0,
      p50: beyond(delay.percentile(50)),
      p90: beyond(delay.percentile(90)),
      p99: beyond(delay.percentile(99)),
    }
    delay.reset()
    return taken
  }
}

/** Empty if the file does not exist. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function openFiles(): number | undefined {
  try {
    // One of them is the folder itself.
    return readdirSync('/proc/self/fd').length - 1
  } catch {
    return undefined
  }
}

const numberOf = (found: RegExpExecArray | null): number | undefined => (found === null ? undefined : Number(found[1]))

const virtualSize = /^VmSize:\s+(\d+) kB/m
const dataSize = /^VmData:\s+(\d+) kB/m

function kilobytesOf(status: string, line: RegExp): number | undefined {
  const kilobytes = numberOf(line.exec(status))
  return kilobytes === undefined ? undefined : kilobytes * 1024
}

/** Infinity without a limit; undefined where it is not known. */
function addressSpaceMax(limits: string): number | undefined {
  const value = /^Max address space +(\S+)/m.exec(limits)?.[1]
  return value === undefined ? undefined : value === 'unlimited' ? Infinity : Number(value)
}

/** The file has pairs of lines: names, then values. */
function networkBytes(netstat: string): Pick<ProcessSample, 'receivedBytes' | 'transmittedBytes'> {
  const [names = [], values = []] = netstat
    .split('\n')
    .filter((line) => line.startsWith('IpExt:'))
    .map((line) => line.split(' '))
  const valueOf = (name: string) => {
    const value = values[names.indexOf(name)]
    return value === undefined ? undefined : Number(value)
  }
  return { receivedBytes: valueOf('InOctets'), transmittedBytes: valueOf('OutOctets') }
}

function countsOf(types: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1)
  return counts
}
