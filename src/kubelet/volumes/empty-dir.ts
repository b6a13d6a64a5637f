// emptyDir: an empty folder that lives as long as its pod, on the disk or in memory.
import { quantityUnits } from '../../schema/quantity.ts'
import { defineVolumeType, VolumeError } from './volume-type.ts'

export const emptyDirVolume = defineVolumeType({
  name: 'emptyDir',
  folderName: 'empty-dir',
  takesGroup: true,
  async mount({ volume: { emptyDir }, folder, disk }) {
    if (emptyDir === undefined) throw new VolumeError('the volume is not an emptyDir')
    if ((await disk.kindOf(folder)) === undefined) await disk.makeFolder(folder, 0o777)
    if (emptyDir.medium === 'Memory')
      await disk.mountMemory(folder, emptyDir.sizeLimit === undefined ? undefined : quantityUnits(emptyDir.sizeLimit))
    return folder
  },
})
