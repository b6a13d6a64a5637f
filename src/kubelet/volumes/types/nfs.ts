// nfs: a directory of an NFS server, mounted with mount.nfs of the host.
import type { Context } from '../../../base/observability/context.ts'
import { urlHost } from '../../../base/net/host-port.ts'
import type { Volume } from '../../../api/core/v1/volume/volume.ts'
import type { Disk } from '../../../machine/disk/disk.ts'
import { isHost } from '../../pod-config/host-text.ts'
import {
  defineVolumeType,
  directoryBeside,
  VolumeError,
  FormattedVolumeError,
  type MountedVolume,
  type PodVolume,
} from '../contract/volume-type.ts'

/** Control characters would end the line of the mount table. */
const exportPattern = /^\/[\x20-\x7e\x80-\u{10ffff}]*$/u

type NfsSource = NonNullable<Volume['nfs']>

export const nfsVolume = defineVolumeType({
  name: 'nfs',
  directoryName: 'nfs',
  tracksApiObjects: false,
  mount(work, { disk }, context) {
    const { nfs, name } = work.volume
    if (nfs === undefined) throw new VolumeError('the volume is not an nfs volume')
    return mountNfs(name, nfs, [], work, disk, context)
  },
})

/** `name`: the name of the volume, or of the persistent volume. */
export async function mountNfs(
  name: string,
  { server, path, readOnly = false }: NfsSource,
  mountOptions: readonly string[],
  work: PodVolume,
  disk: Disk,
  context: Context,
): Promise<MountedVolume> {
  if (!isHost(server)) throw new VolumeError(`${JSON.stringify(server)} is not the name or address of an NFS server`)
  if (!exportPattern.test(path)) throw new VolumeError(`${JSON.stringify(path)} is not a path of an NFS server`)
  const target = directoryBeside(work, 'nfs', name)
  await disk.makeDirectory(target, 0o750)
  const options = [...(readOnly ? ['ro'] : []), ...mountOptions]
  // An IPv6 address is written in brackets.
  const host = urlHost(server)
  try {
    await disk.mountNetwork('nfs', `${host}:${path}`, target, options, context.signal)
  } catch (error) {
    context.signal.throwIfAborted()
    throw new FormattedVolumeError(
      `MountVolume.SetUp failed for volume ${JSON.stringify(name)} : ${(error as Error).message}`,
      { cause: error },
    )
  }
  return { path: target, readOnly }
}
