// A cluster in one process and kubelets in others, which join it as machines do: with a bootstrap token.
import { equal } from 'node:assert/strict'
import { join } from 'node:path'
import { writeFile } from 'node:fs/promises'
import { parseKubeconfig } from '../../src/pki/kubeconfig.ts'
import { base64Text } from '../../src/pki/pem.ts'
import { kubectls, runKubectl, type Kubectl } from '../kubectl.ts'
import { startProcess, startUp, type RunningProcess, type RunningUp } from '../process.ts'
import { readFile } from 'node:fs/promises'

export const newest = (): Kubectl => {
  const found = kubectls().at(-1)
  if (found === undefined) throw new Error('there is no kubectl')
  return found
}

export const goodToken = { id: 'abcdef', secret: '0123456789abcdef' }

export interface JoinableCluster extends AsyncDisposable {
  readonly up: RunningUp
  /** Runs kubectl as the administrator; fails the test when it fails. */
  k(args: readonly string[], input?: object): Promise<string>
  /** The same without a check of the exit code. */
  ask: (args: readonly string[]) => ReturnType<typeof runKubectl>
  /** A kubeconfig with this token. */
  bootstrapKubeconfig(name: string, token: string): Promise<string>
  /** Starts a kubelet, or an agent if it joins with a token; resolves when it is ready. */
  kubelet(name: string, ...options: string[]): Promise<RunningProcess>
  /** Starts one that does not become ready; resolves with its last output. */
  refused(name: string, ...options: string[]): Promise<{ readonly code: number; readonly err: string }>
}

const bindings = [
  ['system:node-bootstrapper', 'system:bootstrappers'],
  ['system:certificates.k8s.io:certificatesigningrequests:nodeclient', 'system:bootstrappers'],
  ['system:certificates.k8s.io:certificatesigningrequests:selfnodeclient', 'system:nodes'],
] as const

export async function startJoinable(...options: string[]): Promise<JoinableCluster> {
  const stack = new AsyncDisposableStack()
  const up = stack.use(await startUp('--store', 'memory', '--runtime', 'none', ...options))
  const kubectl = newest()
  const ask = (args: readonly string[], input?: object) =>
    runKubectl(kubectl, up.kubeconfig, args, input === undefined ? {} : { input: JSON.stringify(input) })
  const k = async (args: readonly string[], input?: object) => {
    const { out, err, code } = await ask(args, input)
    equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
    return out
  }
  await k(['apply', '-f', '-'], joinObjects())
  const { server, authority } = parseKubeconfig(await readFile(up.kubeconfig, 'utf8'))
  const argsOf = (name: string, more: readonly string[]) => [
    ...(more.includes('--server') ? ['agent', '--lb-server-port', '0'] : ['kubelet']),
    ...['--data-dir', join(up.folder, name)],
    ...['--hostname-override', name],
    ...['--healthz-port', '0'],
    ...(more.includes('--port') ? [] : ['--port', '0']),
    ...more,
  ]
  return {
    up,
    k,
    ask,
    async bootstrapKubeconfig(name, token) {
      const path = join(up.folder, `${name}.bootstrap`)
      await writeFile(path, kubeconfigWith(server, authority, token), { mode: 0o600 })
      return path
    },
    kubelet: async (name, ...more) => stack.use(await startProcess(argsOf(name, more))),
    async refused(name, ...more) {
      const message = await startProcess(argsOf(name, more)).then(
        async (running) => {
          await running.end()
          throw new Error(`the kubelet ${name} is ready: ${running.readyLine}`)
        },
        (error: Error) => error.message,
      )
      return { code: Number(/ended with (-?\d+)/.exec(message)?.[1]), err: message }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const group = 'rbac.authorization.k8s.io'

const binding = ([role, who]: readonly [string, string]) => ({
  apiVersion: `${group}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name: `test:${role}` },
  roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
  subjects: [{ apiGroup: group, kind: 'Group', name: who }],
})

export const secretOf = ({ id, secret }: typeof goodToken, more: Readonly<Record<string, string>> = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
  type: 'bootstrap.kubernetes.io/token',
  stringData: { 'token-id': id, 'token-secret': secret, 'usage-bootstrap-authentication': 'true', ...more },
})

/** What a cluster needs so that machines join with the token. */
export const joinObjects = (): object => ({
  apiVersion: 'v1',
  kind: 'List',
  items: [...bindings.map(binding), secretOf(goodToken)],
})

export const kubeconfigWith = (server: string, authority: string, token: string): string => `apiVersion: v1
kind: Config
clusters: [{ name: c, cluster: { server: '${server}', certificate-authority-data: ${base64Text(authority)} } }]
users: [{ name: u, user: { token: ${token} } }]
contexts: [{ name: x, context: { cluster: c, user: u } }]
current-context: x
`
