// secret: the keys of a Secret as files in memory, never on the node's disk.
import { secretFiles } from '../files/object-files.ts'
import { mountFiles } from '../files/mount-files.ts'
import { defineVolumeType, VolumeError } from '../contract/volume-type.ts'

export const secretVolume = defineVolumeType({
  name: 'secret',
  directoryName: 'secret',
  tracksApiObjects: true,
  async mount(work, { disk, sources }, context) {
    const { secret } = work.volume
    if (secret === undefined) throw new VolumeError('the volume is not a secret')
    const { secretName = '', items, optional, defaultMode } = secret
    const files = await secretFiles({ name: secretName, items, optional }, defaultMode, work, sources, context)
    return mountFiles(work, files, 'memory', disk, context)
  },
})
