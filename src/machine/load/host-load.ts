// HostLoad: capacity and usage of the machine. Drivers: the host, and a simulated one with values set by the test.
// Every driver passes host-load-contract.suite.ts.

export interface MemoryLoad {
  readonly capacityBytes: number
  /** Capacity minus the working set. */
  readonly availableBytes: number
  readonly usedBytes: number
  readonly workingSetBytes: number
  readonly rssBytes: number
  readonly swapCapacityBytes: number
  readonly swapUsedBytes: number
}

export interface FileSystemLoad {
  readonly capacityBytes: number
  readonly availableBytes: number
  readonly usedBytes: number
  readonly inodes: number
  readonly inodesFree: number
  /** Device number: equal numbers mean the same file system. */
  readonly device: number
}

/** Counters of a network interface. */
export interface InterfaceLoad {
  readonly name: string
  readonly rxBytes: number
  readonly rxErrors: number
  readonly txBytes: number
  readonly txErrors: number
}

export interface ProcessLoad {
  readonly max: number
  readonly running: number
}

export interface HugePages {
  readonly pageBytes: number
  readonly pages: number
}

export interface HostLoad {
  /** Resolves when there is a load to observe; on a simulated machine when the test has set one. */
  readonly whenLoaded: Promise<void>
  /** Total CPU time since boot. */
  cpuNanos(): Promise<number>
  memory(): Promise<MemoryLoad>
  /** The file system of a path. */
  fileSystem(path: string): Promise<FileSystemLoad>
  processes(): Promise<ProcessLoad>
  /** Interfaces of the network namespace of a process, or of the host; without the loopback interface. */
  network(process?: number): Promise<readonly InterfaceLoad[]>
  /** Reserved huge pages, by page size. */
  hugePages(): Promise<readonly HugePages[]>
}
