// downwardAPI: what the pod knows of itself, as files.
import { downwardFiles } from './object-files.ts'
import { defineVolumeType, VolumeError } from './volume-type.ts'

export const downwardApiVolume = defineVolumeType({
  name: 'downwardAPI',
  folderName: 'downward-api',
  takesGroup: true,
  async mount(work) {
    const { downwardAPI } = work.volume
    if (downwardAPI === undefined) throw new VolumeError('the volume is not a downwardAPI')
    await work.disk.makeFolder(work.folder, 0o755)
    await work.disk.project(work.folder, downwardFiles(downwardAPI.items ?? [], downwardAPI.defaultMode, work))
    return work.folder
  },
})
