// Cgroups: the control groups of the host: what processes together may use, and what they do use. Paths begin with `/` and
// are the same in both versions of the kernel's interface. Drivers: the host's own (version 1 and 2), and a simulated one.
// Every driver passes contract.suite.ts.
import type { ContainerResources } from '../runtime/runtime-config.ts'

/** Absent is unlimited. */
export type CgroupLimits = Omit<ContainerResources, 'oomScoreAdjust'>

export interface CgroupUsage {
  /** Time of processors, since the group was made. */
  readonly cpuNanos: number
  readonly memoryBytes: number
  /** What could not be taken away at once: memory without files that were not read lately. */
  readonly workingSetBytes: number
  readonly rssBytes: number
  readonly pageFaults: number
  readonly majorPageFaults: number
  readonly swapBytes: number
  readonly processes: number
}

export interface Cgroups {
  /** Makes the group, with those above it; one that is there gets the limits, and loses those that are absent. */
  make(path: string, limits: CgroupLimits): Promise<void>
  /** Removes the group and those below it, which must be without processes; fine when there is none. */
  remove(path: string): Promise<void>
  /** Names of the groups directly below. */
  list(path: string): Promise<readonly string[]>
  /** Undefined when there is no such group. */
  limits(path: string): Promise<CgroupLimits | undefined>
  usage(path: string): Promise<CgroupUsage | undefined>
  /** Some process in the group or below it; undefined when there is none. */
  process(path: string): Promise<number | undefined>
}
