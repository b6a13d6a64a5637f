// Mounts of a simulated node: which files are visible at which path.
import { usedBytes, type TreeNode } from '../../disk/file-tree.ts'
import { fileCount, type MemoryContents } from './memory-contents.ts'
import type { UsageNumbers, VolumeMounts } from './storage-system.ts'

export interface SimulatedMount {
  readonly volumeId: string
  readonly root: TreeNode
  readonly isBlock: boolean
  readonly isReadOnly: boolean
  readonly fsType: string
  readonly flags: readonly string[]
}

/** By path. `diskMounts` makes the files visible to the containers of a simulated node. */
export interface MountTable {
  get(path: string): SimulatedMount | undefined
  set(path: string, mount: SimulatedMount): unknown
  delete(path: string): unknown
}

const inodesMax = 65_536

export function simulatedMounts(contents: MemoryContents, table: MountTable): VolumeMounts {
  const mount: VolumeMounts['stage'] = ({ id, isBlock }, path, { isReadOnly, fsType, flags }) => {
    const existing = table.get(path)
    if (existing?.volumeId !== id || existing.isReadOnly !== isReadOnly)
      table.set(path, { volumeId: id, root: contents.rootOf(id), isBlock, isReadOnly, fsType, flags })
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
      const root = contents.rootOf(id)
      const bytes = numbers(capacityBytes, usedBytes(root))
      return Promise.resolve({ bytes, inodes: numbers(inodesMax, fileCount(root)) })
    },
  }
}

const numbers = (total: number, used: number): UsageNumbers => ({ total, used, available: Math.max(0, total - used) })
