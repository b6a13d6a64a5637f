// Runs Kubernetes' sample API server as an extension of a cluster, with delegated authentication and authorization, and
// checks what it serves. It is not part of `npm test`, because it needs the executable and etcd:
//   node test/aggregation/sample-apiserver.ts /path/to/sample-apiserver
import { deepEqual, equal, match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { context } from '../../src/base/observability/context.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { apiService } from '../../src/api/apiregistration/v1/api-service.ts'
import { service } from '../../src/api/core/v1/service/service.ts'
import { clusterRole } from '../../src/api/rbac/v1/cluster-role.ts'
import { clusterRoleBinding } from '../../src/api/rbac/v1/cluster-role-binding.ts'
import { startCluster } from '../../src/cluster/testing/start-cluster.ts'
import { Authority } from '../../src/pki/authority.ts'
import { parseKubeconfig } from '../../src/pki/kubeconfig.ts'
import { nodeCrypto } from '../../src/platform/node/crypto.ts'
import { nodeOutbound } from '../../src/platform/node/http/outbound.ts'
import { wireClient } from '../custom-resources/wire-client.ts'
import { EtcdCluster, newestEtcd } from '../etcd.ts'
import { until } from '../until.ts'

const [executable = ''] = process.argv.slice(2)
const port = 17_443
const group = 'wardle.example.com'
const ctx = context(new AbortController().signal)
const folder = mkdtempSync(join(tmpdir(), 'sample-apiserver-'))
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

await using stack = new AsyncDisposableStack()
stack.defer(() => rmSync(folder, { recursive: true }))
const etcd = stack.use(await EtcdCluster.start(newestEtcd(), 1))
const cluster = stack.use(await startCluster({ time: 'flowing', nodes: 0 }))
const kubeconfig = file('kubeconfig', cluster.kubeconfig)
const authority = Authority.create('sample-ca', { clock: realClock, random: systemRandom, crypto: nodeCrypto })
const { certificate, key } = authority.issue({
  subject: { commonName: 'sample', organizations: [] },
  uses: ['server'],
  dnsNames: ['sample.default.svc'],
  addresses: ['127.0.0.1'],
})
const child = spawn(
  executable,
  [
    `--etcd-servers=${etcd.endpoints.join()}`,
    `--etcd-cafile=${file('etcd-ca.crt', etcd.tls.authority)}`,
    `--etcd-certfile=${file('etcd.crt', etcd.tls.certificate)}`,
    `--etcd-keyfile=${file('etcd.key', etcd.tls.key)}`,
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--tls-cert-file=${file('tls.crt', certificate)}`,
    `--tls-private-key-file=${file('tls.key', key)}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
  ],
  { stdio: ['ignore', 'ignore', process.env['SAMPLE_LOG'] === undefined ? 'ignore' : 'inherit'] },
)
stack.defer(() => void child.kill())

const { client } = cluster
await client
  .of(service)
  .create({ metadata: { name: 'sample' }, spec: { type: 'ExternalName', externalName: '127.0.0.1' } }, 'default', ctx)
const caBundle = Buffer.from(authority.certificate).toString('base64')
for (const version of ['v1alpha1', 'v1beta1'])
  await client.of(apiService).create(
    {
      metadata: { name: `${version}.${group}` },
      spec: {
        group,
        version,
        groupPriorityMinimum: 1000,
        versionPriority: 15,
        caBundle,
        service: { name: 'sample', namespace: 'default', port },
      },
    },
    '',
    ctx,
  )
const reasonOf = async () =>
  (await client.of(apiService).get(`v1alpha1.${group}`, '', ctx)).status.conditions?.[0]?.reason
await until(async () => (await reasonOf()) === 'Passed')
process.stdout.write('the sample API server is available\n')

const access = parseKubeconfig(cluster.kubeconfig)
const wire = stack.use(wireClient({ origin: access.server, tls: { authority: access.authority, ...access.identity } }))
const send = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
  wire.send({
    method,
    path,
    events: undefined,
    body: body && JSON.stringify(body),
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
  })
const flunders = `/apis/${group}/v1alpha1/namespaces/default/flunders`
const made = await send('POST', flunders, {
  apiVersion: `${group}/v1alpha1`,
  kind: 'Flunder',
  metadata: { name: 'one' },
})
equal(made.status, 201, JSON.stringify(made.body))
const listed = await send('GET', flunders)
deepEqual(
  listed.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
  ['one'],
)
const watched = await wire.send({
  method: 'GET',
  path: `${flunders}?watch=true&resourceVersion=0`,
  headers: {},
  body: undefined,
  events: 1,
})
equal(watched.body[0].object.metadata.name, 'one')
process.stdout.write('objects are created, listed and watched\n')

// The server asks the cluster who the bearer of a token is, and what it may do.
const token = await send('POST', '/api/v1/namespaces/default/serviceaccounts/default/token', {
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenRequest',
  spec: {},
})
const direct = nodeOutbound.connect({
  origin: `https://127.0.0.1:${port}`,
  tls: { authority: authority.certificate },
})
stack.defer(() => direct.close())
const asAccount = async () => {
  const headers = { authorization: `Bearer ${token.body.status.token}` }
  const { status, body } = await direct.send({ method: 'GET', target: flunders, headers }, ctx.signal)
  return { status, text: Buffer.concat(await Array.fromAsync(body)).toString() }
}
const denied = await asAccount()
equal(denied.status, 403)
match(denied.text, /system:serviceaccount:default:default.* cannot list resource/)
const rules = [{ apiGroups: [group], resources: ['flunders'], verbs: ['list'] }]
await client.of(clusterRole).create({ metadata: { name: 'flunders' }, rules }, '', ctx)
await client.of(clusterRoleBinding).create(
  {
    metadata: { name: 'flunders' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'flunders' },
    subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
  },
  '',
  ctx,
)
await until(async () => (await asAccount()).status === 200)
process.stdout.write('delegated authentication and authorization work\n')

await until(async () => {
  const { body } = await send('GET', '/openapi/v2')
  return body.paths[`/apis/${group}/v1alpha1/flunders`] !== undefined
})
const document = await send('GET', `/openapi/v3/apis/${group}/v1alpha1`)
equal(document.status, 200)
process.stdout.write('OpenAPI v2 and v3 include the sample API server\n')
