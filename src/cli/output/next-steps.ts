// What to type next, as the screen of a cluster that has started says it: which folders of this checkout the PATH lacks
// (that of coxswain and its kubectl plugins, and that of a kubectl which the set-up has fetched), and the first commands.
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export type Environment = Readonly<Record<string, string | undefined>>

export interface StartedCluster {
  readonly kubeconfigPath: string
  /** Set where kubectl would use another context of the same file. */
  readonly contextName: string | undefined
  /** Set where it is not the one that commands look in by themselves. */
  readonly dataDirectory: string | undefined
}

/** Set by bin/coxswain: where the checkout is. */
const checkoutVariable = 'COXSWAIN_CHECKOUT'

const whereKubectlIs = 'https://kubernetes.io/docs/tasks/tools/'

/** Lines for another terminal than the one that has this environment. */
export function nextSteps(
  { kubeconfigPath, contextName, dataDirectory }: StartedCluster,
  environment: Environment,
): string[] {
  const isFound = finderIn(environment)
  const folders = missingDirectories(isFound, environment[checkoutVariable])
  // Who started it with npx has it on the PATH here, but not there.
  const coxswain = environment['npm_command'] === 'exec' ? 'npx coxswain' : 'coxswain'
  const status = `${coxswain} status${dataDirectory === undefined ? '' : ` --data-dir ${dataDirectory}`}`
  const commands: [command: string, what: string][] = [
    [`${coxswain} flow deployment/web`, 'what happened, as a diagram'],
    [`${coxswain} why deployment/web`, 'what it waits for'],
    [status, 'how the cluster is'],
  ]
  const width = Math.max(...commands.map(([command]) => command.length))
  return [
    `export KUBECONFIG=${kubeconfigPath}`,
    ...(folders.length === 0 ? [] : [`export PATH=${[...folders, '$PATH'].join(':')}`]),
    ...(isFound('kubectl') || folders.some((folder) => existsSync(join(folder, 'kubectl')))
      ? []
      : [`# kubectl is not on the PATH: ${whereKubectlIs}`]),
    ...(contextName === undefined ? [] : [`kubectl config use-context ${contextName}`]),
    'kubectl create deployment web --image=nginx --replicas=3',
    'kubectl get pods',
    ...commands.map(([command, what]) => `${command.padEnd(width)}   # ${what}`),
  ]
}

type Finder = (program: string) => boolean

function finderIn({ PATH = '' }: Environment): Finder {
  const path = PATH.split(delimiter)
  return (program) => path.some((folder) => existsSync(join(folder, program)))
}

function missingDirectories(isFound: Finder, checkout: string | undefined): readonly string[] {
  if (checkout === undefined) return []
  return [
    ...(isFound('coxswain') ? [] : [join(checkout, 'bin')]),
    ...(isFound('kubectl') ? [] : newestKubectl(join(checkout, '.cache', 'kubectl'))),
  ]
}

/** Below the folder there is one for each version. */
function newestKubectl(folder: string): string[] {
  const versions = existsSync(folder) ? readdirSync(folder) : []
  const newest = versions.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
  return newest === undefined ? [] : [join(folder, newest)]
}
