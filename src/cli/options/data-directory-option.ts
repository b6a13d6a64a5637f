// Options that choose a cluster of this machine: by its name, or by its data directory.
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { UsageError } from '../command/command.ts'

type Environment = Readonly<Record<string, string | undefined>>

const nameDefault = 'coxswain'
const nameCharactersMax = 63

export const dataDirectoryOptions = {
  'data-dir': {
    type: 'string',
    value: '<directory>',
    help: 'the data directory of the cluster: objects, certificates, kubeconfigs (~/.local/share/coxswain)',
  },
} as const

/** Of commands about a cluster that `up` has started. */
export const clusterNameOptions = {
  ...dataDirectoryOptions,
  name: {
    type: 'string',
    value: '<name>',
    help: 'the cluster of coxswain up --name, whose data directory is ~/.local/share/coxswain-clusters/<name>',
  },
} as const

export interface ClusterChoice {
  readonly 'data-dir'?: string | undefined
  readonly name?: string | undefined
}

/** The data directory that is named, that of the named cluster, or that of the cluster without a name. */
export function dataDirectoryOf(choice: ClusterChoice, environment: Environment): string {
  const { 'data-dir': directory } = choice
  const name = namedCluster(choice)
  return resolve(
    directory ?? (name === undefined ? ownDirectory(environment) : join(clustersFolder(environment), name)),
  )
}

/** The folder with the data directories of named clusters. */
export const clustersFolder = (environment: Environment): string => `${ownDirectory(environment)}-clusters`

const ownDirectory = (environment: Environment): string =>
  join(environment['XDG_DATA_HOME'] || join(environment['HOME'] ?? homedir(), '.local', 'share'), 'coxswain')

/** Undefined if a data directory is named, or the cluster that needs no name. */
export const namedCluster = ({ 'data-dir': directory, name }: ClusterChoice): string | undefined =>
  directory !== undefined || name === undefined || clusterNameOf(name) === nameDefault ? undefined : name

/** The flag with which another command finds this cluster, with a space before it. */
export function clusterFlag(choice: ClusterChoice): string {
  const { 'data-dir': directory } = choice
  const name = namedCluster(choice)
  if (directory !== undefined) return ` --data-dir ${resolve(directory)}`
  return name === undefined ? '' : ` --name ${name}`
}

/** The same for the data directory of a cluster. */
export function clusterFlagOfDirectory(directory: string, environment: Environment): string {
  if (directory === ownDirectory(environment)) return ''
  return clusterFlag(
    dirname(directory) === clustersFolder(environment) ? { name: basename(directory) } : { 'data-dir': directory },
  )
}

/** The name of a cluster, which is also that of its context in kubeconfigs. */
export function clusterNameOf(text = nameDefault): string {
  if (!/^[a-z0-9][-.a-z0-9]*$/.test(text) || text.length > nameCharactersMax)
    throw new UsageError(
      `--name ${JSON.stringify(text)} must consist of at most ${nameCharactersMax} lower case letters, digits, '-' and '.'`,
    )
  return text
}
