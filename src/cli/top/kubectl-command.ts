// Shells and edits are run by kubectl, which has the protocol and the editor.
import type { ExternalCommand } from './tty-screen.ts'

const shell = 'command -v bash >/dev/null && exec bash || exec sh'

export const kubectlCommand =
  (kubeconfig: string, context: string | undefined): ExternalCommand =>
  (effect) => {
    const { resource, namespace, name } = effect.object
    const place = namespace === '' ? [] : ['--namespace', namespace]
    const access = ['--kubeconfig', kubeconfig, ...(context === undefined ? [] : ['--context', context]), ...place]
    if (effect.kind === 'edit') {
      const kind = resource.group === '' ? resource.plural : `${resource.plural}.${resource.version}.${resource.group}`
      return ['kubectl', 'edit', ...access, `${kind}/${name}`]
    }
    const container = effect.container === '' ? [] : ['--container', effect.container]
    return ['kubectl', 'exec', '--stdin', '--tty', ...access, ...container, name, '--', 'sh', '-c', shell]
  }
