// image: the files of an OCI image, read-only. The volume is mounted when the first container that uses it starts,
// because the image is pulled together with the container's image.
import { defineVolumeType, VolumeError } from '../contract/volume-type.ts'

export const imageVolume = defineVolumeType({
  name: 'image',
  directoryName: 'image',
  tracksApiObjects: false,
  async mount({ directory, image }, { disk, imageMounts }, context) {
    if (imageMounts === undefined) throw new VolumeError('image volumes are not supported on this node')
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
  /** The runtime keeps the snapshots of image mounts until they are released explicitly. */
  async unmount({ directory, unmountSubPaths }, { disk, imageMounts }, { signal }) {
    const names = imageMounts === undefined ? [] : await disk.list(directory)
    if (imageMounts === undefined || names.length === 0) return
    await unmountSubPaths()
    for (const name of names) await imageMounts.unmount(`${directory}/${name}`, signal)
  },
})
