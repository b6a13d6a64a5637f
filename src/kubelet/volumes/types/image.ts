// image: the files of an OCI image, read-only. The volume is mounted when the first container that uses it starts,
// because the image is pulled together with the container's image.
import { defineVolumeType, VolumeError } from '../contract/volume-type.ts'

export const imageVolume = defineVolumeType({
  name: 'image',
  directoryName: 'image',
  tracksApiObjects: false,
  async mount({ volume, directory, disk, images, imageMounts, context }) {
    if (imageMounts === undefined) throw new VolumeError('image volumes are not supported on this node')
    const image = images.get(volume.name)
    if (image === undefined) return undefined
    const isShown = (await disk.mountsBelow(directory)).includes(directory)
    if (isShown) return { path: directory, readOnly: true, isSealed: true }
    await disk.makeDirectory(directory, 0o755)
    try {
      await imageMounts.mount(image.id, directory, context.signal)
    } catch (error) {
      throw new VolumeError((error as Error).message, { cause: error })
    }
    return { path: directory, readOnly: true, isSealed: true }
  },
})
