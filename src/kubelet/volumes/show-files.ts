// Shows files in the folder of a volume: all at once, for reading only, in memory where nothing may touch the disk.
import type { Files } from './projected-files.ts'
import type { VolumePlace, VolumeWork } from './volume-type.ts'

export async function showFiles(
  { disk, folder, pod }: VolumeWork,
  files: Files,
  medium: 'disk' | 'memory',
): Promise<VolumePlace> {
  await disk.makeFolder(folder, 0o755)
  if (medium === 'memory') await disk.mountMemory(folder, undefined)
  await disk.project(folder, files, pod.spec.securityContext?.fsGroup)
  return { path: folder, readOnly: true }
}
