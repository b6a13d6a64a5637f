// SimulatedQuotas: limits of directories on a simulated disk.
import type { SimulatedDisk } from '../disk/simulated-disk.ts'
import type { DirectoryQuotas } from './directory-quotas.ts'

export class SimulatedQuotas implements DirectoryQuotas {
  readonly #disk: SimulatedDisk

  constructor(disk: SimulatedDisk) {
    this.#disk = disk
  }

  supports(): Promise<boolean> {
    return Promise.resolve(true)
  }

  async limit(directory: string, _projectId: number, bytesMax: number): Promise<void> {
    this.#disk.limitBytes(directory, bytesMax)
  }
}
