// coxswain restore: restores the cluster of this machine from a snapshot.
import { resolve } from 'node:path'
import { restoreDirectory, type RestoreReport } from '../../cluster/data-directory/restore-snapshot.ts'
import { encryptionPart } from '../../cluster/data-directory/take-snapshot.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { clusterFlag, clusterNameOptions, dataDirectoryOf } from '../options/data-directory-option.ts'
import { passphraseOf, passphraseOptions } from '../options/passphrase.ts'

export const restore = defineCommand({
  name: 'restore',
  summary: 'restores the cluster of this machine from a snapshot, while it is stopped',
  operands: '<file>',
  options: { ...clusterNameOptions, ...passphraseOptions },
  async run({ operands, options }, { out, environment, signal }) {
    const [file] = operands
    if (file === undefined) throw new UsageError('name the file of the snapshot')
    const directory = dataDirectoryOf(options, environment)
    const passphrase = await passphraseOf(options['passphrase-file'], environment)
    const report = await restoreDirectory(directory, resolve(file), passphrase, signal)
    const own = clusterFlag(options)
    out(`${directory} holds the cluster of ${resolve(file)}${takenAt(report)}.\n`)
    for (const line of [beforeText(report), keysText[report.keys], volumesText(report), encryptionText(report)])
      out(line)
    out(
      `Start it: coxswain up${own}\nOr as the first of several servers: coxswain server --init --bind <address>${own}\n`,
    )
    return 0
  },
})

const takenAt = ({ header }: RestoreReport): string => (header === undefined ? '' : `, taken at ${header.createdAt}`)

function beforeText({ before: { store, keys, volumes } }: RestoreReport): string {
  const kept = [store, keys, volumes].filter((path) => path !== undefined)
  if (kept.length === 0) return 'It held no cluster before.\n'
  return `The previous content is kept: ${kept.join(', ')}.\n`
}

const keysText: Readonly<Record<RestoreReport['keys'], string>> = {
  restored:
    'Its CAs and its key of ServiceAccount tokens are those of the snapshot: tokens and certificates stay valid.\n',
  kept: 'The snapshot omits the keys of its cluster; those that were in the directory stay.\n',
  none: 'The snapshot omits the keys of its cluster, and the directory has none: the next start makes new ones, and tokens\nand kubeconfigs of the old cluster are not valid.\n',
}

const volumesText = ({ header }: RestoreReport): string =>
  header?.volumes === undefined
    ? 'The content of volumes is not in the snapshot.\n'
    : 'The content of the volumes of the class local-path is that of the snapshot.\n'

const encryptionText = ({ header }: RestoreReport): string =>
  header?.encryptionConfig === undefined || header.parts.some(({ name }) => name === encryptionPart)
    ? ''
    : `Its objects are encrypted at rest: it needs the keys that were in ${header.encryptionConfig} (--encryption-provider-config).\n`
