// diskMounts: volumes of a simulated driver on the disk of a simulated node, where its containers see them.
import type { SimulatedDisk } from '../../disk/simulated-disk.ts'
import type { MountTable, SimulatedMount } from './simulated-mounts.ts'

export function diskMounts(disk: SimulatedDisk): MountTable {
  const mounts = new Map<string, SimulatedMount>()
  return {
    /** A mount is gone when its node has lost power. */
    get(path) {
      const mount = mounts.get(path)
      return mount !== undefined && disk.nodeAt(path) === mount.root ? mount : undefined
    },
    set(path, mount) {
      mounts.set(path, mount)
      disk.mountNode(path, mount.root, mount.isReadOnly)
    },
    delete(path) {
      mounts.delete(path)
      disk.unmountNode(path)
    },
  }
}
