// secret: the keys of a Secret as files in memory, never on the node's disk.
import { secretFiles } from '../files/object-files.ts'
import { mountFiles } from '../files/mount-files.ts'
import { defineVolumeType, VolumeError } from '../contract/volume-type.ts'

export const secretVolume = defineVolumeType({
  name: 'secret',
  directoryName: 'secret',
  tracksApiObjects: true,
  async mount(work) {
    const { secret } = work.volume
    if (secret === undefined) throw new VolumeError('the volume is not a secret')
    const { secretName = '', items, optional, defaultMode } = secret
    return mountFiles(work, await secretFiles({ name: secretName, items, optional }, defaultMode, work), 'memory')
  },
})
