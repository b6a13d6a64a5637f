// Finds the kubeconfig of a program that names none, in the order of upstream's controller-runtime: the environment, the
// ServiceAccount of its pod, the home directory.
import { delimiter, dirname, join, resolve } from 'node:path'
import { joinHostPort } from '../../base/net/host-port.ts'
import { KubeconfigError } from '../../client/transport/kubeconfig-access.ts'
import type { KubeconfigSource } from '../kubeconfig/kubeconfig-context.ts'

export interface FindKubeconfigDeps {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Undefined: there is no such file. */
  readonly read: (path: string) => Promise<string | undefined>
  readonly home: string
}

/** Where a kubelet mounts the credentials of a pod's ServiceAccount. */
const accountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount'

export async function findKubeconfig({ environment, read, home }: FindKubeconfigDeps): Promise<KubeconfigSource> {
  const named = (environment['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '')
  for (const path of named) {
    const text = await read(path)
    if (text !== undefined) return sourceOf(path, text)
  }
  if (named.length > 0) throw new KubeconfigError(`cannot read the kubeconfig ${named.join(' or ')} of $KUBECONFIG`)
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = environment
  if (host !== undefined && host !== '') return accountKubeconfig(joinHostPort(host, port), read)
  const path = join(home, '.kube', 'config')
  const text = await read(path)
  if (text !== undefined) return sourceOf(path, text)
  throw new KubeconfigError(
    `there is no kubeconfig: $KUBECONFIG is not set, this is not a pod, and ${path} does not exist`,
  )
}

export const sourceOf = (path: string, text: string): KubeconfigSource => ({
  text,
  path,
  directory: dirname(resolve(path)),
})

/** A kubeconfig with the credentials of the pod. The token is read from its file, because kubelets rotate it. */
async function accountKubeconfig(address: string, read: FindKubeconfigDeps['read']): Promise<KubeconfigSource> {
  const namespace = (await read(`${accountDirectory}/namespace`))?.trim()
  if (namespace === undefined)
    throw new KubeconfigError(`this pod has no credentials of a ServiceAccount: ${accountDirectory} does not exist`)
  const name = 'pod'
  const config = {
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
    clusters: [
      { name, cluster: { server: `https://${address}`, 'certificate-authority': `${accountDirectory}/ca.crt` } },
    ],
    users: [{ name, user: { tokenFile: `${accountDirectory}/token` } }],
  }
  return { text: JSON.stringify(config), path: `the ServiceAccount of this pod`, directory: accountDirectory }
}
