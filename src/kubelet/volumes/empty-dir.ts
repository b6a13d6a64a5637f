// emptyDir: an empty folder that lives as long as its pod, on the disk or in memory.
import { quantityUnits } from '../../schema/quantity.ts'
import { giveToPodGroup } from './group.ts'
import { defineVolumeType, VolumeError } from './volume-type.ts'

export const emptyDirVolume = defineVolumeType({
  name: 'emptyDir',
  folderName: 'empty-dir',
  follows: false,
  async mount(work) {
    const { volume, folder, disk } = work
    const { emptyDir } = volume
    if (emptyDir === undefined) throw new VolumeError('the volume is not an emptyDir')
    const { medium = '', sizeLimit } = emptyDir
    if (medium !== '' && medium !== 'Memory')
      throw new VolumeError(
        medium.startsWith('HugePages')
          ? `volumes of medium ${medium} are not supported on this node`
          : `unknown storage medium ${JSON.stringify(medium)}`,
      )
    const isNew = (await disk.kindOf(folder)) === undefined
    if (isNew) await disk.makeFolder(folder, 0o777)
    if (medium === 'Memory') {
      const isMounted = (await disk.mountsBelow(folder)).includes(folder)
      if (!isMounted) await disk.mountMemory(folder, sizeLimit === undefined ? undefined : quantityUnits(sizeLimit))
      if (!isMounted) await disk.makeFolder(folder, 0o777)
    }
    // What its containers have written since is theirs to arrange.
    if (isNew) await giveToPodGroup(folder, work)
    return { path: folder, readOnly: false }
  },
})
