// csi: a volume of a storage driver with the lifetime of its pod.
import { defineVolumeType, VolumeError } from '../contract/volume-type.ts'

export const csiVolume = defineVolumeType({
  name: 'csi',
  directoryName: 'csi',
  tracksApiObjects: false,
  mount(work) {
    if (work.csi === undefined) throw new VolumeError('volumes of storage drivers are not supported on this node')
    return work.csi.mountInline(work)
  },
})
