// image: the files of an OCI image, read-only. The volume is mounted when the first container that uses it starts,
// because the image is pulled together with the container's image.
import { defineVolumeType, VolumeError } from './volume-type.ts'

export const imageVolume = defineVolumeType({
  name: 'image',
  directoryName: 'image',
  tracksApiObjects: false,
  async mount({ volume, directory: folder, disk, images, imageMounts, context }) {
    if (imageMounts === undefined) throw new VolumeError('images cannot be shown as volumes on this node')
    const image = images.get(volume.name)
    if (image === undefined) return undefined
    const isShown = (await disk.mountsBelow(folder)).includes(folder)
    if (isShown) return { path: folder, readOnly: true, isSealed: true }
    await disk.makeDirectory(folder, 0o755)
    try {
      await imageMounts.mount(image.id, folder, context.signal)
    } catch (error) {
      throw new VolumeError((error as Error).message, { cause: error })
    }
    return { path: folder, readOnly: true, isSealed: true }
  },
})
