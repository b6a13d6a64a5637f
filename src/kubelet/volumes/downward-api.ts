// downwardAPI: what the pod knows of itself, as files.
import { downwardFiles } from './object-files.ts'
import { showFiles } from './show-files.ts'
import { defineVolumeType, VolumeError } from './volume-type.ts'

export const downwardApiVolume = defineVolumeType({
  name: 'downwardAPI',
  folderName: 'downward-api',
  follows: true,
  async mount(work) {
    const { downwardAPI } = work.volume
    if (downwardAPI === undefined) throw new VolumeError('the volume is not a downwardAPI')
    return showFiles(work, downwardFiles(downwardAPI.items ?? [], downwardAPI.defaultMode, work), 'memory')
  },
})
