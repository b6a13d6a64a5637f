// SimulatedHostLoad: a machine whose load is set by the test.
import type { FileSystemLoad, HostLoad, HugePages, InterfaceLoad, MemoryLoad, ProcessLoad } from './host-load.ts'

const gib = 1024 ** 3

export interface SimulatedLoad {
  readonly memoryBytes: number
  readonly memoryAvailableBytes: number
  readonly fileSystem: FileSystemLoad
  /** The file system of images, if it is a separate one. */
  readonly imageFileSystem?: FileSystemLoad
  readonly network: readonly InterfaceLoad[]
  readonly processes: ProcessLoad
}

export const idleLoad: SimulatedLoad = {
  memoryBytes: 32 * gib,
  memoryAvailableBytes: 32 * gib,
  fileSystem: {
    capacityBytes: 100 * gib,
    availableBytes: 100 * gib,
    usedBytes: 0,
    inodes: 6_000_000,
    inodesFree: 6_000_000,
    device: 1,
  },
  network: [],
  processes: { max: 32_768, running: 0 },
}

export class SimulatedHostLoad implements HostLoad {
  readonly #loaded = Promise.withResolvers<void>()
  #load: SimulatedLoad

  constructor(load: Partial<SimulatedLoad> = {}) {
    this.#load = { ...idleLoad, ...load }
  }

  /** Sets the load. */
  set(load: Partial<SimulatedLoad>): void {
    this.#load = { ...this.#load, ...load }
    this.#loaded.resolve()
  }

  get whenLoaded(): Promise<void> {
    return this.#loaded.promise
  }

  cpuNanos(): Promise<number> {
    return Promise.resolve(0)
  }

  memory(): Promise<MemoryLoad> {
    const { memoryBytes: capacityBytes, memoryAvailableBytes: availableBytes } = this.#load
    const usedBytes = capacityBytes - availableBytes
    return Promise.resolve({
      capacityBytes,
      availableBytes,
      usedBytes,
      workingSetBytes: usedBytes,
      rssBytes: usedBytes,
      swapCapacityBytes: 0,
      swapUsedBytes: 0,
    })
  }

  fileSystem(path: string): Promise<FileSystemLoad> {
    const { fileSystem, imageFileSystem = fileSystem } = this.#load
    return Promise.resolve(path.startsWith('/images') ? imageFileSystem : fileSystem)
  }

  network(_process?: number): Promise<readonly InterfaceLoad[]> {
    return Promise.resolve(this.#load.network)
  }

  hugePages(): Promise<readonly HugePages[]> {
    return Promise.resolve([])
  }

  processes(): Promise<ProcessLoad> {
    return Promise.resolve(this.#load.processes)
  }
}
