// HostLoad: how much the machine has, and how much of it is in use. Drivers: the host's own, and a simulated one that says
// what the test says. Every driver passes contract.suite.ts.

export interface MemoryLoad {
  readonly capacityBytes: number
  /** What is left beside what could not be taken away at once. */
  readonly availableBytes: number
  readonly usedBytes: number
  readonly workingSetBytes: number
  readonly rssBytes: number
}

export interface FileSystemLoad {
  readonly capacityBytes: number
  readonly availableBytes: number
  readonly usedBytes: number
  readonly inodes: number
  readonly inodesFree: number
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
  /** Memory that is set aside in huge pages, by the sizes that there are. */
  hugePages(): Promise<readonly HugePages[]>
}
