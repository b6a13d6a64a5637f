// The kubeconfig that a command uses: the one named, that of the environment, or that of the user.
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from './command.ts'

export async function readKubeconfig(
  named: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const path = named ?? environment['KUBECONFIG'] ?? join(homedir(), '.kube', 'config')
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new UsageError(`cannot read the kubeconfig ${path}; set KUBECONFIG or --kubeconfig`, { cause: error })
  }
}
