// Writes files to the directory of a volume atomically; in memory where they must not be written to disk.
import type { Files } from './key-files.ts'
import { isInnerPath } from '../../../base/text/file-names.ts'
import { VolumeError, type MountedVolume, type VolumeMountInput } from '../contract/volume-type.ts'

export async function mountFiles(
  { disk, directory, pod, context }: VolumeMountInput,
  files: Files,
  medium: 'disk' | 'memory',
): Promise<MountedVolume> {
  for (const path of files.keys()) if (!isInnerPath(path)) throw new VolumeError(`invalid path ${JSON.stringify(path)}`)
  await disk.makeDirectory(directory, 0o755)
  if (medium === 'memory') await disk.mountTmpfs(directory, undefined)
  await disk.project(directory, files, pod.spec.securityContext?.fsGroup, context.signal)
  return { path: directory, readOnly: true }
}
