// secret: the keys of a Secret as files, in memory and never on the node's disk.
import { secretFiles } from './object-files.ts'
import { defineVolumeType, VolumeError } from './volume-type.ts'

export const secretVolume = defineVolumeType({
  name: 'secret',
  folderName: 'secret',
  takesGroup: true,
  async mount(work) {
    const { secret } = work.volume
    if (secret === undefined) throw new VolumeError('the volume is not a secret')
    const { secretName = '', items, optional, defaultMode } = secret
    const files = await secretFiles({ name: secretName, items, optional }, defaultMode, work)
    await work.disk.makeFolder(work.folder, 0o755)
    await work.disk.mountMemory(work.folder, undefined)
    await work.disk.project(work.folder, files)
    return work.folder
  },
})
