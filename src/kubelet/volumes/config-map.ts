// configMap: the keys of a ConfigMap as files.
import { configMapFiles } from './object-files.ts'
import { showFiles } from './show-files.ts'
import { defineVolumeType, VolumeError } from './volume-type.ts'

export const configMapVolume = defineVolumeType({
  name: 'configMap',
  folderName: 'configmap',
  follows: true,
  async mount(work) {
    const { configMap } = work.volume
    if (configMap === undefined) throw new VolumeError('the volume is not a configMap')
    const { name = '', items, optional, defaultMode } = configMap
    return showFiles(work, await configMapFiles({ name, items, optional }, defaultMode, work), 'disk')
  },
})
