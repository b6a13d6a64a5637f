// Eviction signals: the observed values, the node condition of each signal, and the resource it measures.
import type { FileSystemName } from '../stats/disk-layout.ts'
import type { Summary } from '../stats/summary.ts'
import type { EvictionSignal } from './thresholds.ts'

export interface Observation {
  readonly available: number
  readonly capacity: number
}

export type Observations = ReadonlyMap<EvictionSignal, Observation>

export const pressureConditions = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const
export type PressureCondition = (typeof pressureConditions)[number]

export function observe({ node }: Summary): Observations {
  const { memory, fs, runtime, rlimit } = node
  const { imageFs, containerFs } = runtime
  const free = memory.availableBytes ?? 0
  const bytes = (of: typeof fs): Observation => ({ available: of.availableBytes, capacity: of.capacityBytes })
  const inodes = (of: typeof fs): Observation => ({ available: of.inodesFree, capacity: of.inodes })
  return new Map<EvictionSignal, Observation>([
    ['memory.available', { available: free, capacity: free + memory.workingSetBytes }],
    ['nodefs.available', bytes(fs)],
    ['nodefs.inodesFree', inodes(fs)],
    ['imagefs.available', bytes(imageFs)],
    ['imagefs.inodesFree', inodes(imageFs)],
    ['containerfs.available', bytes(containerFs)],
    ['containerfs.inodesFree', inodes(containerFs)],
    ['pid.available', { available: rlimit.maxpid - rlimit.curproc, capacity: rlimit.maxpid }],
  ])
}

export function conditionOf(signal: EvictionSignal): PressureCondition {
  if (signal === 'memory.available') return 'MemoryPressure'
  return signal === 'pid.available' ? 'PIDPressure' : 'DiskPressure'
}

/** The file system that a disk signal measures; undefined for other signals. */
export function fileSystemOf(signal: EvictionSignal): FileSystemName | undefined {
  if (signal.startsWith('nodefs.')) return 'node'
  if (signal.startsWith('imagefs.')) return 'images'
  return signal.startsWith('containerfs.') ? 'containers' : undefined
}

export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids'

export function resourceOf(signal: EvictionSignal): StarvedResource {
  if (signal === 'memory.available') return 'memory'
  if (signal === 'pid.available') return 'pids'
  return signal.endsWith('.inodesFree') ? 'inodes' : 'ephemeral-storage'
}
