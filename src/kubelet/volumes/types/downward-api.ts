// downwardAPI: fields of the pod as files.
import { downwardFiles } from '../files/object-files.ts'
import { mountFiles } from '../files/mount-files.ts'
import { defineVolumeType, VolumeError } from '../contract/volume-type.ts'

export const downwardApiVolume = defineVolumeType({
  name: 'downwardAPI',
  directoryName: 'downward-api',
  tracksApiObjects: true,
  async mount(work) {
    const { downwardAPI } = work.volume
    if (downwardAPI === undefined) throw new VolumeError('the volume is not a downwardAPI')
    return mountFiles(work, downwardFiles(downwardAPI.items ?? [], downwardAPI.defaultMode, work), 'memory')
  },
})
