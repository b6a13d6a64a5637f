// HostLoad: how much the machine has, and how much of it is in use. Drivers: the host's own, and a simulated one that says
// what the test says. Every driver passes contract.suite.ts.

export interface MemoryLoad {
  readonly capacityBytes: number
  /** What is left beside what could not be taken away at once. */
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
  /** The same number means the same file system. */
  readonly device: number
}

/** What has come and gone through a network interface. */
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
  /** From when on it is worth looking: a simulated machine that nobody has loaded yet has nothing to show. */
  readonly whenLoaded: Promise<void>
  /** Time of all processors since the machine started. */
  cpuNanos(): Promise<number>
  memory(): Promise<MemoryLoad>
  /** The file system that a path lies on. */
  fileSystem(path: string): Promise<FileSystemLoad>
  processes(): Promise<ProcessLoad>
  /** Of the network that a process sees, of the machine's own without one; the loopback does not count. */
  network(process?: number): Promise<readonly InterfaceLoad[]>
  /** Memory that is set aside in huge pages, by the sizes that there are. */
  hugePages(): Promise<readonly HugePages[]>
}
