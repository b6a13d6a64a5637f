// configMap: the keys of a ConfigMap as files.
import { configMapFiles } from '../files/object-files.ts'
import { mountFiles } from '../files/mount-files.ts'
import { defineVolumeType, VolumeError } from '../contract/volume-type.ts'

export const configMapVolume = defineVolumeType({
  name: 'configMap',
  directoryName: 'configmap',
  tracksApiObjects: true,
  async mount(work, { disk, sources }, context) {
    const { configMap } = work.volume
    if (configMap === undefined) throw new VolumeError('the volume is not a configMap')
    const { name = '', items, optional, defaultMode } = configMap
    const files = await configMapFiles({ name, items, optional }, defaultMode, work, sources, context)
    return mountFiles(work, files, 'disk', disk, context)
  },
})
