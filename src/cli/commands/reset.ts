// coxswain reset: the cluster of this machine begins anew.
import { resetFolder } from '../../cluster/data-folder.ts'
import { defineCommand, UsageError } from '../command.ts'
import { dataFolderOf, dataFolderOptions } from '../data-folder.ts'

export const reset = defineCommand({
  name: 'reset',
  summary: 'removes what the cluster of this machine has kept: objects, certificates, kubeconfigs',
  operands: '',
  options: {
    ...dataFolderOptions,
    yes: { type: 'boolean', short: 'y', help: 'does it; without, it only says what would go' },
  },
  async run({ options }, { out, environment, signal }) {
    const folder = dataFolderOf(options['data-dir'], environment)
    if (!options.yes) throw new UsageError(`all that the cluster keeps in ${folder} would go; say --yes`)
    await resetFolder(folder, signal)
    out(`${folder} is empty; the next start begins a new cluster\n`)
    return 0
  },
})
