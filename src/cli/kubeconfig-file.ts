// The kubeconfig that a command uses: the one named, that of the environment, that of the user, or that of the cluster of
// this machine.
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { UsageError } from './command.ts'
import { dataFolderOf } from './data-folder.ts'

export async function readKubeconfig(
  named: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  // As kubectl, of several files that are named in the environment; the first that is there says which cluster is meant.
  const told = named === undefined ? (environment['KUBECONFIG'] ?? '').split(delimiter) : [named]
  const paths = told.filter((path) => path !== '')
  if (paths.length === 0)
    paths.push(join(homedir(), '.kube', 'config'), join(dataFolderOf(undefined, environment), 'admin.kubeconfig'))
  for (const path of paths) {
    const text = await readFile(path, 'utf8').catch(() => undefined)
    if (text !== undefined) return text
  }
  throw new UsageError(`cannot read the kubeconfig ${paths.join(' or ')}; set KUBECONFIG or --kubeconfig`)
}
