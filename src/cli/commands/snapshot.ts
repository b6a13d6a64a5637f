// coxswain snapshot: copies the cluster to one file, whether it is running or not.
import { resolve } from 'node:path'
import { realClock } from '../../base/time/clock.ts'
import { snapshotDirectory } from '../../cluster/data-directory/take-snapshot.ts'
import { findSnapshots, type FoundSnapshot } from '../../cluster/snapshots/snapshot-folder.ts'
import { snapshotFolderOf } from '../../cluster/snapshots/snapshot-schedule.ts'
import { textTable } from '../output/text-table.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { clusterNameOptions, dataDirectoryOf } from '../options/data-directory-option.ts'
import { passphraseOf, passphraseOptions } from '../options/passphrase.ts'

export const snapshot = defineCommand({
  name: 'snapshot',
  summary:
    'copies the cluster of this machine into a file, while it runs; with a passphrase its keys too; lists scheduled ones',
  operands: '<file>|list',
  operandValues: () => ['list'],
  options: {
    ...clusterNameOptions,
    ...passphraseOptions,
    volumes: { type: 'boolean', help: 'includes the content of the volumes of the class local-path on this machine' },
    force: { type: 'boolean', short: 'f', help: 'replaces a file that is already there' },
    'snapshot-dir': {
      type: 'string',
      value: '<folder>',
      help: 'the folder of scheduled snapshots, for list (snapshots in the data directory)',
    },
  },
  async run({ operands, options }, { out, environment, signal }) {
    const [file] = operands
    if (file === undefined) throw new UsageError('name the file to write, or list')
    const directory = dataDirectoryOf(options, environment)
    if (file === 'list') {
      const folder = resolve(options['snapshot-dir'] ?? snapshotFolderOf(directory))
      out(snapshotTable(await findSnapshots(folder), folder))
      return 0
    }
    if (options['snapshot-dir'] !== undefined) throw new UsageError('--snapshot-dir belongs to: coxswain snapshot list')
    const passphrase = await passphraseOf(options['passphrase-file'], environment)
    const to = resolve(file)
    const isForced = options.force === true
    const hasVolumes = options.volumes === true
    const { keys, encryptionConfig, volumes } = await snapshotDirectory(
      { directory, to, passphrase, isForced, hasVolumes },
      realClock,
      signal,
    )
    out(`${to} holds the cluster of ${directory} as it is now.\n`)
    out(
      keys === 'included'
        ? 'It is encrypted with the passphrase, and includes the CAs, the key of ServiceAccount tokens and the configuration of encryption at rest.\n'
        : 'It is not encrypted, and contains every Secret. The keys of the cluster (CAs, ServiceAccount tokens) are omitted:\nrestored elsewhere it becomes a different cluster, where tokens and kubeconfigs are not valid.\nInclude them with --passphrase-file.\n',
    )
    out(hasVolumes ? includedText[volumes ?? 'none'] : omittedText)
    if (encryptionConfig !== undefined && keys === 'omitted')
      out(
        `Objects in it are encrypted at rest with the keys in ${encryptionConfig}, which it does not hold: keep that file.\n`,
      )
    return 0
  },
})

const omittedText =
  'The content of volumes is not included. --volumes includes that of the class local-path on this machine.\n'

const otherVolumes = 'Volumes of other classes and of other machines are not included.\n'
const includedText = {
  none: `This machine has no volumes of the class local-path. ${otherVolumes}`,
  unchanged: `It includes the content of the volumes of the class local-path on this machine. ${otherVolumes}`,
  changed: `It includes the content of the volumes of the class local-path on this machine. Files were written meanwhile, so they are\nas after a power failure; stop the pods that write, or the cluster, for a consistent copy. ${otherVolumes}`,
} as const

/** Newest first. */
function snapshotTable(found: readonly FoundSnapshot[], folder: string): string {
  if (found.length === 0) return `there are no scheduled snapshots in ${folder}\n`
  const rows = found.map(({ path, bytes, header: { createdAt, name, keys } }) => {
    const megabytes = (bytes / 2 ** 20).toFixed(1)
    return [createdAt, name, `${megabytes} MB`, keys, path]
  })
  return textTable([['TAKEN', 'CLUSTER', 'SIZE', 'KEYS', 'FILE'], ...rows])
}
