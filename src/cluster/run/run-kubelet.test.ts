// A kubelet in its own process, over HTTPS: it joins with a token, serves its port, and rejects unauthenticated
// requests.
import { equal, match, rejects } from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import { defaultKubeletSettings } from '../../kubelet/node/kubelet-settings.ts'
import { base64Text } from '../../pki/pem.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import { Cluster } from './cluster.ts'
import { adminUser } from '../client/component-users.ts'
import { kubeletProcessSettings } from '../flags/kubelet-process-flags.ts'
import { temporaryCertificates } from '../certificates/cluster-certificates.ts'
import { buildRequestPolicies } from '../policy/request-policies.ts'
import { openRemote } from '../client/remote.ts'
import { runKubelet } from './run-kubelet.ts'
import { serve } from './serve.ts'

const ctx = context(new AbortController().signal)
const token = { id: 'abcdef', secret: '0123456789abcdef' }
const roles = 'system:certificates.k8s.io:certificatesigningrequests'

async function start() {
  const stack = new AsyncDisposableStack()
  const options = { clock: realClock, random: systemRandom, log: silentLog, nodes: 0 }
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
    const cluster = `{ server: '${server.url}', certificate-authority-data: ${base64Text(certificates.authority)} }`
    const text = `clusters: [{ name: c, cluster: ${cluster} }]
users: [{ name: u, user: { token: ${shown} } }]
contexts: [{ name: x, context: { cluster: c, user: u } }]
current-context: x
`
    await writeFile(path, text)
    return path
  }
  const run = (bootstrap: string | undefined, onReady: (at: { url: string }) => void, signal: AbortSignal) =>
    runKubelet(
      {
        kubeconfigPath: join(directory, 'kubeconfig'),
        bootstrapPath: bootstrap,
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

test('a kubelet joins with its token and serves its own port', async () => {
  await using world = await start()
  const { admin, directory, run, server } = world
  const stop = new AbortController()
  const ready = Promise.withResolvers<{ url: string }>()
  const ended = run(await world.bootstrapPath(`${token.id}.${token.secret}`), ready.resolve, stop.signal)
  await Promise.race([ready.promise, ended])
  for await (const event of admin.of(node).watch({ resourceVersion: '0' }, ctx))
    if (event.type !== 'BOOKMARK' && event.object.metadata.name === 'worker') break
  match((await ready.promise).url, /^https:\/\/127\.0\.0\.1:\d+$/)
  match(await readFile(join(directory, 'kubeconfig'), 'utf8'), /client-key: ".*kubelet-client-current\.pem"/)
  await using remote = await openRemote(server.kubeconfig, ctx.signal)
  const answer = await remote.clientAs('test').of(node).get('worker', '', ctx)
  equal(answer.status.daemonEndpoints?.kubeletEndpoint?.Port, Number(new URL((await ready.promise).url).port))
  stop.abort()
  await ended
  const again = new AbortController()
  await run(undefined, () => again.abort(), again.signal)
})

test('without a valid token there is no node', async () => {
  await using world = await start()
  const { run } = world
  await rejects(
    run(undefined, () => {}, ctx.signal),
    /there is no file .*kubeconfig, and no --bootstrap-kubeconfig/,
  )
  const wrong = await world.bootstrapPath('abcdef.ffffffffffffffff')
  await rejects(
    run(wrong, () => {}, ctx.signal),
    /does not accept the token of .*bootstrap: it is wrong or has expired/,
  )
})
