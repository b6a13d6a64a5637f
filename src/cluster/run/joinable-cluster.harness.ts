// A cluster over HTTPS that a kubelet can join with a token, for tests of kubelets in their own process.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realClock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import { defaultKubeletSettings } from '../../kubelet/node/kubelet-settings.ts'
import { base64Text } from '../../pki/pem.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import type { ClusterOptions } from '../components/cluster-options.ts'
import { Cluster } from './cluster.ts'
import { adminUser } from '../client/component-users.ts'
import { kubeletProcessSettings } from '../flags/kubelet-process-flags.ts'
import { temporaryCertificates } from '../certificates/cluster-certificates.ts'
import { buildRequestPolicies } from '../policy/request-policies.ts'
import { runKubelet } from './run-kubelet.ts'
import { serve } from './serve.ts'

const ctx = context(new AbortController().signal)
export const token = { id: 'abcdef', secret: '0123456789abcdef' }
const roles = 'system:certificates.k8s.io:certificatesigningrequests'

export async function startJoinable(given: Partial<Pick<ClusterOptions, 'nodes' | 'localPath'>> = {}) {
  const stack = new AsyncDisposableStack()
  const options = { clock: realClock, random: systemRandom, log: silentLog, nodes: 0, ...given }
  const certificates = temporaryCertificates({ ...options, platform: nodePlatform, hosts: ['127.0.0.1'] })
  const { policies } = buildRequestPolicies({ ...options, ...certificates, platform: nodePlatform })
  const kubeletTls = { ...certificates.components['apiserver-kubelet-client'], insecureSkipVerify: true }
  const controllerSettings = { signer: certificates.signer, authority: certificates.authority }
  const store = new MemoryStore(realClock)
  const cluster = new Cluster({ ...options, policies, store, kubeletTls, controllerSettings })
  stack.defer(() => cluster.stop())
  cluster.start()
  const server = await serve(cluster, { ...options, host: '127.0.0.1', port: 0, certificates, platform: nodePlatform })
  stack.defer(() => server.close(0))
  await cluster.ready
  await cluster.bindNodes(ctx.signal)
  const admin = cluster.client('test', adminUser)
  for (const [name, group] of [
    ['system:node-bootstrapper', 'system:bootstrappers'],
    [`${roles}:nodeclient`, 'system:bootstrappers'],
  ] as const)
    await admin.of(clusterRoleBinding).create(
      {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
      },
      '',
      ctx,
    )
  await admin.of(secret).create(
    {
      metadata: { name: `bootstrap-token-${token.id}` },
      type: 'bootstrap.kubernetes.io/token',
      stringData: { 'token-id': token.id, 'token-secret': token.secret, 'usage-bootstrap-authentication': 'true' },
    },
    'kube-system',
    ctx,
  )
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-kubelet-'))
  stack.defer(() => rm(directory, { recursive: true }))
  const bootstrapPath = async (shown: string) => {
    const path = join(directory, 'bootstrap')
    const clusterEntry = `{ server: '${server.url}', certificate-authority-data: ${base64Text(certificates.authority)} }`
    const text = `clusters: [{ name: c, cluster: ${clusterEntry} }]
users: [{ name: u, user: { token: ${shown} } }]
contexts: [{ name: x, context: { cluster: c, user: u } }]
current-context: x
`
    await writeFile(path, text)
    return path
  }
  const run = (
    bootstrap: string | undefined,
    onReady: (at: { url: string }) => void,
    signal: AbortSignal,
    balancerPort?: number,
  ) =>
    runKubelet(
      {
        kubeconfigPath: join(directory, 'kubeconfig'),
        bootstrap: bootstrap === undefined ? undefined : { kind: 'kubeconfig', path: bootstrap },
        bootstrapFlags: '--bootstrap-kubeconfig',
        balancerPort,
        dataDirectory: join(directory, 'data'),
        runtime: 'simulated',
        settings: defaultKubeletSettings,
        process: kubeletProcessSettings({ port: '0', 'healthz-port': '0', 'hostname-override': 'Worker' }),
        log: silentLog,
        onReady,
      },
      signal,
    )
  return { admin, directory, bootstrapPath, run, server, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}
