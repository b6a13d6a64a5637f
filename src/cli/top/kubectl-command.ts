// Shells and edits are run by kubectl, which has the protocol and the editor.
import type { ExternalCommand } from './tty-screen.ts'

const shell = 'command -v bash >/dev/null && exec bash || exec sh'

/** The flags that select the cluster and the namespace. */
export const kubectlAccess = (kubeconfig: string, context: string | undefined, namespace: string): string[] => [
  ...['--kubeconfig', kubeconfig],
  ...(context === undefined ? [] : ['--context', context]),
  ...(namespace === '' ? [] : ['--namespace', namespace]),
]

export const kubectlCommand =
  (kubeconfig: string, context: string | undefined): ExternalCommand =>
  (effect) => {
    const { resource, namespace, name } = effect.object
    const access = kubectlAccess(kubeconfig, context, namespace)
    if (effect.kind === 'edit') {
      const kind = resource.group === '' ? resource.plural : `${resource.plural}.${resource.version}.${resource.group}`
      return ['kubectl', 'edit', ...access, `${kind}/${name}`]
    }
    const container = effect.container === '' ? [] : ['--container', effect.container]
    return ['kubectl', 'exec', '--stdin', '--tty', ...access, ...container, name, '--', 'sh', '-c', shell]
  }
