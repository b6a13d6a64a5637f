// coxswain snapshot: a copy of all objects in one file, taken while the cluster runs or while it does not.
import { resolve } from 'node:path'
import { snapshotFolder } from '../../cluster/data-folder.ts'
import { defineCommand, UsageError } from '../command.ts'
import { dataFolderOf, dataFolderOptions } from '../data-folder.ts'

export const snapshot = defineCommand({
  name: 'snapshot',
  summary: 'copies all objects of the cluster of this machine into a file, while it runs',
  operands: '<file>',
  options: dataFolderOptions,
  async run({ operands, options }, { out, environment, signal }) {
    const [file] = operands
    if (file === undefined) throw new UsageError('name the file to write')
    await snapshotFolder(dataFolderOf(options['data-dir'], environment), resolve(file), signal)
    out(`${resolve(file)} holds the cluster as it is now; it contains every Secret\n`)
    return 0
  },
})
