// nfs: a directory of an NFS server, mounted with mount.nfs of the host.
import type { Volume } from '../../../api/core/v1/volume/volume.ts'
import {
  defineVolumeType,
  directoryBeside,
  VolumeError,
  FormattedVolumeError,
  type MountedVolume,
  type VolumeMountInput,
} from './volume-type.ts'

type NfsSource = NonNullable<Volume['nfs']>

export const nfsVolume = defineVolumeType({
  name: 'nfs',
  directoryName: 'nfs',
  tracksApiObjects: false,
  mount(work) {
    const { nfs, name } = work.volume
    if (nfs === undefined) throw new VolumeError('the volume is not an nfs volume')
    return mountNfs(name, nfs, [], work)
  },
})

/** `name`: the name of the volume, or of the persistent volume. */
export async function mountNfs(
  name: string,
  { server, path, readOnly = false }: NfsSource,
  mountOptions: readonly string[],
  work: VolumeMountInput,
): Promise<MountedVolume> {
  const { disk, context } = work
  const target = directoryBeside(work, 'nfs', name)
  await disk.makeDirectory(target, 0o750)
  const options = [...(readOnly ? ['ro'] : []), ...mountOptions]
  // An IPv6 address is written in brackets.
  const host = server.includes(':') ? `[${server}]` : server
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
