// Writes files to the directory of a volume atomically; in memory where they must not be written to disk.
import type { Context } from '../../../base/observability/context.ts'
import type { Disk } from '../../../machine/disk/disk.ts'
import type { Files } from './key-files.ts'
import { isInnerPath } from '../../../base/text/file-names.ts'
import { VolumeError, type MountedVolume, type PodVolume } from '../contract/volume-type.ts'

export async function mountFiles(
  { directory, pod }: PodVolume,
  files: Files,
  medium: 'disk' | 'memory',
  disk: Disk,
  context: Context,
): Promise<MountedVolume> {
  for (const path of files.keys()) if (!isInnerPath(path)) throw new VolumeError(`invalid path ${JSON.stringify(path)}`)
  await disk.makeDirectory(directory, 0o755)
  if (medium === 'memory') await disk.mountTmpfs(directory, undefined)
  await disk.project(directory, files, pod.spec.securityContext?.fsGroup, context.signal)
  return { path: directory, readOnly: true }
}
