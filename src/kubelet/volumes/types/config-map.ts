// configMap: the keys of a ConfigMap as files.
import { configMapFiles } from '../files/object-files.ts'
import { mountFiles } from '../files/mount-files.ts'
import { defineVolumeType, VolumeError } from '../contract/volume-type.ts'

export const configMapVolume = defineVolumeType({
  name: 'configMap',
  directoryName: 'configmap',
  tracksApiObjects: true,
  async mount(work) {
    const { configMap } = work.volume
    if (configMap === undefined) throw new VolumeError('the volume is not a configMap')
    const { name = '', items, optional, defaultMode } = configMap
    return mountFiles(work, await configMapFiles({ name, items, optional }, defaultMode, work), 'disk')
  },
})
