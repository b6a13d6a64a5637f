// coxswain restore: the cluster of this machine as a snapshot holds it.
import { resolve } from 'node:path'
import { restoreFolder } from '../../cluster/data-folder.ts'
import { defineCommand, UsageError } from '../command.ts'
import { dataFolderOf, dataFolderOptions } from '../data-folder.ts'

export const restore = defineCommand({
  name: 'restore',
  summary: 'brings the cluster of this machine back to a snapshot, while it is stopped',
  operands: '<file>',
  options: dataFolderOptions,
  async run({ operands, options }, { out, environment, signal }) {
    const [file] = operands
    if (file === undefined) throw new UsageError('name the file of the snapshot')
    const folder = dataFolderOf(options['data-dir'], environment)
    await restoreFolder(folder, resolve(file), signal)
    out(
      `${folder} is as in ${resolve(file)}; what it held before is in store.db.before-restore. Start it: coxswain up\n`,
    )
    return 0
  },
})
