// configMap: the keys of a ConfigMap as files.
import { configMapFiles } from './object-files.ts'
import { defineVolumeType, VolumeError } from './volume-type.ts'

export const configMapVolume = defineVolumeType({
  name: 'configMap',
  folderName: 'configmap',
  takesGroup: true,
  async mount(work) {
    const { configMap } = work.volume
    if (configMap === undefined) throw new VolumeError('the volume is not a configMap')
    const { name = '', items, optional, defaultMode } = configMap
    const files = await configMapFiles({ name, items, optional }, defaultMode, work)
    await work.disk.makeFolder(work.folder, 0o755)
    await work.disk.project(work.folder, files)
    return work.folder
  },
})
