// Cgroups: limits and usage of the host's control groups. Paths start with `/` and are the same for cgroup v1 and v2.
// Drivers: the host's cgroups (v1 and v2) and a simulated one. Every driver passes cgroups-contract.suite.ts.

/** A missing value means unlimited. */
export interface CgroupLimits {
  readonly cpuShares?: number
  readonly cpuPeriodUs?: number
  readonly cpuQuotaUs?: number
  readonly memoryBytes?: number
  /** By the kernel's name of the page size: `2MB`. */
  readonly hugepageBytes?: Readonly<Record<string, number>>
}

export interface CgroupUsage {
  /** CPU time since the cgroup was created. */
  readonly cpuNanos: number
  readonly memoryBytes: number
  /** Memory that cannot be reclaimed immediately: usage minus inactive file pages. */
  readonly workingSetBytes: number
  readonly rssBytes: number
  readonly pageFaults: number
  readonly majorPageFaults: number
  readonly swapBytes: number
  readonly processes: number
}

export interface Cgroups {
  /** Creates the cgroup and its parents; an existing one gets exactly these limits. */
  make(path: string, limits: CgroupLimits): Promise<void>
  /** Removes the cgroup and its children, which must not contain processes; a missing one is ignored. */
  remove(path: string): Promise<void>
  /** Names of the direct children. */
  list(path: string): Promise<readonly string[]>
  /** Undefined when the cgroup does not exist. */
  limits(path: string): Promise<CgroupLimits | undefined>
  usage(path: string): Promise<CgroupUsage | undefined>
  /** The pid of any process in the cgroup or its children; undefined when there is none. */
  process(path: string): Promise<number | undefined>
}
