// secret: the keys of a Secret as files, in memory and never on the node's disk.
import { secretFiles } from './object-files.ts'
import { showFiles } from './show-files.ts'
import { defineVolumeType, VolumeError } from './volume-type.ts'

export const secretVolume = defineVolumeType({
  name: 'secret',
  folderName: 'secret',
  follows: true,
  async mount(work) {
    const { secret } = work.volume
    if (secret === undefined) throw new VolumeError('the volume is not a secret')
    const { secretName = '', items, optional, defaultMode } = secret
    return showFiles(work, await secretFiles({ name: secretName, items, optional }, defaultMode, work), 'memory')
  },
})
