import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { selectContext } from '../kubeconfig/kubeconfig-context.ts'
import { findKubeconfig } from './find-kubeconfig.ts'

const account = '/var/run/secrets/kubernetes.io/serviceaccount'
const files: Record<string, string> = { '/home/a/.kube/config': 'home', '/b': 'b', [`${account}/namespace`]: 'shop\n' }

const deps = (environment: Record<string, string>, without: readonly string[] = []) => ({
  environment,
  home: '/home/a',
  read: (path: string) => Promise.resolve(without.includes(path) ? undefined : files[path]),
})

const inPod = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' }

const found: [what: string, environment: Record<string, string>, path: string, directory: string][] = [
  ['the first existing file of $KUBECONFIG', { ...inPod, KUBECONFIG: '/a:/b' }, '/b', '/'],
  ['the ServiceAccount of a pod', inPod, 'the ServiceAccount of this pod', account],
  ['the file in the home directory', { KUBECONFIG: '' }, '/home/a/.kube/config', '/home/a/.kube'],
]
for (const [what, environment, path, directory] of found)
  test(`the kubeconfig is ${what}`, async () => {
    const source = await findKubeconfig(deps(environment))
    deepEqual([source.path, source.directory], [path, directory])
  })

test('a pod connects to the address of its environment as its ServiceAccount', async () => {
  const { server, namespace, kubeconfig } = await selectContext(await findKubeconfig(deps(inPod)))
  deepEqual([server, namespace], ['https://[fd00::1]:6443', 'shop'])
  equal(kubeconfig.includes(`tokenFile: ${account}/token`), true)
})

const refused: [what: string, environment: Record<string, string>, message: string][] = [
  ['files that do not exist', { KUBECONFIG: '/x:/y' }, 'cannot read the kubeconfig /x or /y of $KUBECONFIG'],
  ['a pod without credentials', inPod, `this pod has no credentials of a ServiceAccount: ${account} does not exist`],
  [
    'no kubeconfig at all',
    {},
    'there is no kubeconfig: $KUBECONFIG is not set, this is not a pod, and /home/a/.kube/config does not exist',
  ],
]
for (const [what, environment, message] of refused)
  test(`${what} is an error that says where it was searched`, () =>
    rejects(findKubeconfig(deps(environment, Object.keys(files))), { name: 'KubeconfigError', message }))
