// The next commands that `coxswain up` suggests, and the directories of this checkout that are missing in PATH: those
// of coxswain with its kubectl plugins, and of the kubectl that the setup downloaded.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fetchedKubectl } from '../command/kubectl-program.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface StartedCluster {
  readonly kubeconfigPath: string
  /** Set when the file has another current context. */
  readonly contextName: string | undefined
  /** With which other commands find the cluster. */
  readonly flag: string
}

/** The checkout; set by bin/coxswain. */
const checkoutVariable = 'COXSWAIN_CHECKOUT'

const whereKubectlIs = 'https://kubernetes.io/docs/tasks/tools/'

/** Lines for another terminal than the one with this environment. */
export function nextSteps({ kubeconfigPath, contextName, flag }: StartedCluster, environment: Environment): string[] {
  const isFound = finderIn(environment)
  const directories = missingDirectories(isFound, environment[checkoutVariable])
  // npx adds coxswain to PATH only in this process.
  const coxswain = environment['npm_command'] === 'exec' ? 'npx coxswain' : 'coxswain'
  const commands: [command: string, what: string][] = [
    [`${coxswain} flow deployment/web`, 'what happened, as a diagram'],
    [`${coxswain} why deployment/web`, 'what it waits for'],
    [`${coxswain} ui`, 'the same in a web page, live'],
    [`${coxswain} top`, 'the same in the terminal'],
    [`${coxswain} status${flag}`, 'how the cluster is'],
  ]
  const width = Math.max(...commands.map(([command]) => command.length))
  return [
    `export KUBECONFIG=${kubeconfigPath}`,
    ...(directories.length === 0 ? [] : [`export PATH=${[...directories, '$PATH'].join(':')}`]),
    ...(isFound('kubectl') || directories.some((directory) => existsSync(join(directory, 'kubectl')))
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
  return (program) => path.some((directory) => existsSync(join(directory, program)))
}

function missingDirectories(isFound: Finder, checkout: string | undefined): readonly string[] {
  if (checkout === undefined) return []
  const kubectl = isFound('kubectl') ? undefined : fetchedKubectl(checkout)
  return [...(isFound('coxswain') ? [] : [join(checkout, 'bin')]), ...(kubectl === undefined ? [] : [kubectl])]
}
