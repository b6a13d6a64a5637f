// NodeVolumes: the directories of volumes on one node. Each is a child of a directory that only its owner can enter, so it
// can be writable for containers of any user.
import { isFileName } from '../../base/text/file-names.ts'
import type { Disk } from '../../machine/disk/disk.ts'
import type { DirectoryQuotas } from '../../machine/quotas/directory-quotas.ts'

export interface NodeVolumesOptions {
  /** The directory of all volumes. */
  readonly directory: string
  readonly disk: Disk
  readonly quotas: DirectoryQuotas
  /** Whether everything is lost when the process ends, as on a simulated node. */
  readonly isVolatile: boolean
}

const rootMode = 0o700
const volumeMode = 0o777

export class NodeVolumes {
  readonly #options: NodeVolumesOptions
  #areLimited: Promise<boolean> | undefined

  constructor(options: NodeVolumesOptions) {
    this.#options = options
  }

  /** Throws if the name of the volume is no file name. */
  pathOf(volume: string): string {
    if (!isFileName(volume)) throw new Error(`${JSON.stringify(volume)} is not a valid name of a volume`)
    return `${this.#options.directory}/${volume}`
  }

  /** Whether sizes are enforced. */
  areLimited(signal: AbortSignal): Promise<boolean> {
    const { quotas, directory } = this.#options
    return (this.#areLimited ??= quotas.supports(directory, signal))
  }

  /** Creates the directory of a volume if it is missing. */
  async make(volume: string): Promise<void> {
    const { disk, directory } = this.#options
    await disk.makeDirectory(directory, rootMode)
    await disk.makeDirectory(this.pathOf(volume), volumeMode)
  }

  async limit(volume: string, projectId: number, bytesMax: number, signal: AbortSignal): Promise<void> {
    await this.#options.quotas.limit(this.pathOf(volume), projectId, bytesMax, signal)
  }

  async remove(volume: string): Promise<void> {
    await this.#options.disk.remove(this.pathOf(volume))
  }

  /** Creates the directory of an existing volume again if the process that created it has ended. */
  async restore(volume: string): Promise<void> {
    const { disk, isVolatile } = this.#options
    if (isVolatile && (await disk.kindOf(this.pathOf(volume))) === undefined) await this.make(volume)
  }

  /** Removes empty directories of volumes that do not exist: of claims that were deleted while no provisioner ran. */
  async removeUnused(isUsed: (volume: string) => boolean): Promise<void> {
    const { disk, directory } = this.#options
    for (const name of await disk.list(directory))
      if (!isUsed(name) && (await disk.list(this.pathOf(name))).length === 0) await disk.remove(this.pathOf(name))
  }
}
