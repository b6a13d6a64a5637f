// downwardAPI: fields of the pod as files.
import { downwardFiles } from '../files/object-files.ts'
import { mountFiles } from '../files/mount-files.ts'
import { defineVolumeType, VolumeError } from '../contract/volume-type.ts'

export const downwardApiVolume = defineVolumeType({
  name: 'downwardAPI',
  directoryName: 'downward-api',
  tracksApiObjects: true,
  async mount(work, { disk, node }, context) {
    const { downwardAPI } = work.volume
    if (downwardAPI === undefined) throw new VolumeError('the volume is not a downwardAPI')
    const files = downwardFiles(downwardAPI.items ?? [], downwardAPI.defaultMode, work, node)
    return mountFiles(work, files, 'memory', disk, context)
  },
})
