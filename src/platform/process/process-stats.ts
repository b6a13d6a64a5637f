// ProcessStats: resource usage of the process and its JavaScript engine. Cheap enough to read on every scrape of
// /metrics.

export interface ProcessStatsProvider {
  /** Measures event loop delay and garbage collections until it is disposed of. */
  start(): ProcessStats
}

export interface ProcessStats extends Disposable {
  /** Current values; event loop delays since the previous reading. */
  read(): ProcessSample
  /** Calls the listener with each garbage collection. */
  onGarbageCollection(listener: (kind: GarbageCollectionKind, seconds: number) => void): void
}

export type GarbageCollectionKind = 'major' | 'minor' | 'incremental' | 'weakcb'

export interface ProcessSample {
  readonly startTimeSeconds: number
  readonly cpuUserSeconds: number
  readonly cpuSystemSeconds: number
  readonly residentBytes: number
  /** Undefined on systems without /proc. */
  readonly virtualBytes: number | undefined
  /** Infinity where it is not limited. */
  readonly virtualBytesMax: number | undefined
  readonly dataBytes: number | undefined
  /** Of all sockets in the network namespace of the process. */
  readonly receivedBytes: number | undefined
  readonly transmittedBytes: number | undefined
  readonly openFiles: number | undefined
  readonly openFilesMax: number | undefined
  readonly heapTotalBytes: number
  readonly heapUsedBytes: number
  readonly externalBytes: number
  readonly heapSpaces: readonly HeapSpace[]
  readonly eventLoopDelay: EventLoopDelay
  /** What keeps the process alive, by type: handles, requests and timers. */
  readonly activeResources: ReadonlyMap<string, number>
  /** `v26.10.0` */
  readonly version: string
}

export interface HeapSpace {
  readonly name: string
  readonly totalBytes: number
  readonly usedBytes: number
  readonly availableBytes: number
}

/** How much later than scheduled timers ran, in seconds. */
export interface EventLoopDelay {
  readonly min: number
  readonly max: number
  readonly mean: number
  readonly stddev: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
}
