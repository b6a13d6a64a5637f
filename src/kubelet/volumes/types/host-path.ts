// hostPath: a path of the node. Its type determines what must exist or is created.
import { lookup } from '../../../base/collections/lookup.ts'
import type { Disk, DiskKind } from '../../../machine/disk/disk.ts'
import { defineVolumeType, VolumeError, type MountedVolume } from './volume-type.ts'

const wanted: Readonly<Record<string, { readonly kind: DiskKind; readonly words: string }>> = {
  Directory: { kind: 'folder', words: 'a directory' },
  DirectoryOrCreate: { kind: 'folder', words: 'a directory' },
  File: { kind: 'file', words: 'a file' },
  FileOrCreate: { kind: 'file', words: 'a file' },
  Socket: { kind: 'socket', words: 'a socket file' },
  CharDevice: { kind: 'character-device', words: 'a character device' },
  BlockDevice: { kind: 'block-device', words: 'a block device' },
}

export const hostPathVolume = defineVolumeType({
  name: 'hostPath',
  directoryName: 'host-path',
  tracksApiObjects: false,
  mount({ volume: { hostPath }, disk }) {
    if (hostPath === undefined) throw new VolumeError('the volume is not a hostPath')
    return mountHostPath(hostPath.path, hostPath.type, disk)
  },
})

export async function mountHostPath(path: string, type: string, disk: Disk): Promise<MountedVolume> {
  const rule = lookup(wanted, type)
  const place = { path, readOnly: false }
  if (rule === undefined) return place
  const kind = await disk.kindOf(path)
  if (kind === undefined && type === 'DirectoryOrCreate') await disk.makeDirectory(path, 0o755)
  else if (kind === undefined && type === 'FileOrCreate')
    await disk.write(path, { content: new Uint8Array(), mode: 0o644 })
  else if (kind !== rule.kind) throw new VolumeError(`hostPath type check failed: ${path} is not ${rule.words}`)
  return place
}
