// Mounts of a simulated node: which files are visible at which path.
import type { MemoryContents, VolumeFiles } from './memory-contents.ts'
import type { UsageNumbers, VolumeMounts } from './storage-system.ts'

export interface SimulatedMount {
  readonly volumeId: string
  readonly files: VolumeFiles
  readonly isBlock: boolean
  readonly isReadOnly: boolean
  readonly fsType: string
  readonly flags: readonly string[]
}

/** By path. The owner of a simulated node implements it to make the files visible to its containers. */
export type MountTable = Pick<Map<string, SimulatedMount>, 'set' | 'delete' | 'get'>

const inodesMax = 65_536

export function simulatedMounts(contents: MemoryContents, table: MountTable): VolumeMounts {
  const mount: VolumeMounts['stage'] = ({ id, isBlock }, path, { isReadOnly, fsType, flags }) => {
    const existing = table.get(path)
    if (existing?.volumeId !== id || existing.isReadOnly !== isReadOnly)
      table.set(path, { volumeId: id, files: contents.filesOf(id), isBlock, isReadOnly, fsType, flags })
    return Promise.resolve()
  }
  const unmount = (volumeId: string, path: string) => {
    if (table.get(path)?.volumeId === volumeId) table.delete(path)
    return Promise.resolve()
  }
  return {
    stage: mount,
    unstage: unmount,
    publish: (volume, _stagingPath, targetPath, options) => mount(volume, targetPath, options),
    unpublish: unmount,
    expand: () => Promise.resolve(),
    usage({ id, capacityBytes }) {
      const files = contents.filesOf(id)
      const usedBytes = files.values().reduce((sum, content) => sum + content.length, 0)
      return Promise.resolve({ bytes: numbers(capacityBytes, usedBytes), inodes: numbers(inodesMax, files.size) })
    },
  }
}

const numbers = (total: number, used: number): UsageNumbers => ({ total, used, available: Math.max(0, total - used) })
