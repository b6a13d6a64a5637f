// hostPath: a path of the node. Its type determines what must exist or is created.
import { lookup } from '../../../base/collections/lookup.ts'
import type { Disk, DiskKind } from '../../../machine/disk/disk.ts'
import { defineVolumeType, VolumeError, type MountedVolume } from '../contract/volume-type.ts'

const expectations: Readonly<Record<string, { readonly kind: DiskKind; readonly description: string }>> = {
  Directory: { kind: 'directory', description: 'a directory' },
  DirectoryOrCreate: { kind: 'directory', description: 'a directory' },
  File: { kind: 'file', description: 'a file' },
  FileOrCreate: { kind: 'file', description: 'a file' },
  Socket: { kind: 'socket', description: 'a socket file' },
  CharDevice: { kind: 'character-device', description: 'a character device' },
  BlockDevice: { kind: 'block-device', description: 'a block device' },
}

export const hostPathVolume = defineVolumeType({
  name: 'hostPath',
  directoryName: 'host-path',
  tracksApiObjects: false,
  mount({ volume: { hostPath } }, { disk }) {
    if (hostPath === undefined) throw new VolumeError('the volume is not a hostPath')
    return mountHostPath(hostPath.path, hostPath.type, disk)
  },
})

export async function mountHostPath(path: string, type: string, disk: Disk): Promise<MountedVolume> {
  const rule = lookup(expectations, type)
  const mounted = { path, readOnly: false }
  if (rule === undefined) return mounted
  const kind = await disk.kindOf(path)
  if (kind === undefined && type === 'DirectoryOrCreate') await disk.makeDirectory(path, 0o755)
  else if (kind === undefined && type === 'FileOrCreate')
    await disk.write(path, { content: new Uint8Array(), mode: 0o644 })
  else if (kind !== rule.kind) throw new VolumeError(`hostPath type check failed: ${path} is not ${rule.description}`)
  return mounted
}
