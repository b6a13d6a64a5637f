// The summary of a node's usage in the format of upstream's stats/v1alpha1, which /stats/summary returns.

export interface CpuStats {
  readonly time: string
  readonly usageNanoCores: number
  readonly usageCoreNanoSeconds: number
}

export interface MemoryStats {
  readonly time: string
  readonly availableBytes?: number
  readonly usageBytes: number
  readonly workingSetBytes: number
  readonly rssBytes: number
  readonly pageFaults: number
  readonly majorPageFaults: number
}

export interface SwapStats {
  readonly time: string
  readonly swapAvailableBytes?: number
  readonly swapUsageBytes: number
}

export interface InterfaceStats {
  readonly name: string
  readonly rxBytes: number
  readonly rxErrors: number
  readonly txBytes: number
  readonly txErrors: number
}

/** The first interface, followed by all of them. */
export interface NetworkStats extends InterfaceStats {
  readonly time: string
  readonly interfaces: readonly InterfaceStats[]
}

export interface FsStats {
  readonly time: string
  readonly availableBytes: number
  readonly capacityBytes: number
  readonly usedBytes: number
  readonly inodesFree: number
  readonly inodes: number
  readonly inodesUsed: number
}

export interface ContainerStats {
  readonly name: string
  readonly startTime: string
  readonly cpu: CpuStats
  readonly memory: MemoryStats
  readonly swap: SwapStats
  readonly rootfs: FsStats
  readonly logs: FsStats
}

/** Storage drivers may report a part of the fields. */
export interface VolumeStats extends Partial<Omit<FsStats, 'time'>>, Pick<FsStats, 'time'> {
  readonly name: string
  /** The claim of the volume, if it has one. */
  readonly pvcRef?: ClaimReference
}

export interface ClaimReference {
  readonly name: string
  readonly namespace: string
}

export interface PodStats {
  readonly podRef: { readonly name: string; readonly namespace: string; readonly uid: string }
  readonly startTime: string
  readonly containers: readonly ContainerStats[]
  readonly cpu: CpuStats
  readonly memory: MemoryStats
  readonly swap: SwapStats
  /** Left out for host network pods. */
  readonly network?: NetworkStats
  readonly volume: readonly VolumeStats[]
  readonly 'ephemeral-storage': FsStats
  readonly process_stats: { readonly process_count: number }
}

export interface NodeSummary {
  readonly nodeName: string
  readonly startTime: string
  readonly cpu: CpuStats
  readonly memory: MemoryStats
  readonly swap: SwapStats
  readonly network?: NetworkStats
  readonly fs: FsStats
  readonly runtime: { readonly imageFs: FsStats; readonly containerFs: FsStats }
  readonly rlimit: { readonly time: string; readonly maxpid: number; readonly curproc: number }
}

export interface Summary {
  readonly node: NodeSummary
  readonly pods: readonly PodStats[]
}

/** The response with `only_cpu_and_memory`. */
export interface CpuAndMemorySummary {
  readonly node: Pick<NodeSummary, 'nodeName' | 'startTime' | 'cpu' | 'memory'>
  readonly pods: readonly (Pick<PodStats, 'podRef' | 'startTime' | 'cpu' | 'memory'> & {
    readonly containers: readonly Pick<ContainerStats, 'name' | 'startTime' | 'cpu' | 'memory'>[]
  })[]
}

export const cpuAndMemoryOf = ({ node, pods }: Summary): CpuAndMemorySummary => ({
  node: { nodeName: node.nodeName, startTime: node.startTime, cpu: node.cpu, memory: node.memory },
  pods: pods.map(({ podRef, startTime, containers, cpu, memory }) => ({
    podRef,
    startTime,
    containers: containers.map((one) => ({
      name: one.name,
      startTime: one.startTime,
      cpu: one.cpu,
      memory: one.memory,
    })),
    cpu,
    memory,
  })),
})
