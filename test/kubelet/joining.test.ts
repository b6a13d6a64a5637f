// A kubelet in a separate process joins a cluster with a bootstrap token; kubectl reaches its pods through its port.
import { equal, match, notEqual, ok } from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { get } from 'node:https'
import { join } from 'node:path'
import { once } from 'node:events'
import { test } from 'node:test'
import { runKubectl } from '../kubectl.ts'
import { until } from '../until.ts'
import { goodToken, newest, secretOf, startJoinable } from './joining.harness.ts'

const token = `${goodToken.id}.${goodToken.secret}`
const simulated = ['--runtime', 'simulated'] as const
const portOf = (readyLine: string) => Number(/:(\d+)$/.exec(readyLine)?.[1])

async function statusAt(port: number, path: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  const request = get({ host: '127.0.0.1', port, path, headers, rejectUnauthorized: false, agent: false })
  const [response] = (await once(request, 'response')) as [{ statusCode?: number; resume(): void }]
  response.resume()
  return response.statusCode
}

test('a machine joins with a token, runs pods, and continues after kill -9', async () => {
  await using cluster = await startJoinable()
  const { k } = cluster
  const bootstrap = await cluster.bootstrapKubeconfig('good', token)
  const options = ['--bootstrap-kubeconfig', bootstrap, ...simulated, '--node-labels', 'disk=ssd']
  const first = await cluster.kubelet('worker', ...options, '--register-with-taints', 'only=mine:NoSchedule')
  await k(['wait', 'node/worker', '--for=condition=Ready', '--timeout=200s'])
  const look =
    '{.metadata.labels.disk} {.spec.taints[?(@.key=="only")].effect} {.spec.podCIDR} {.status.addresses[0].address}'
  equal(await k(['get', 'node', 'worker', '-o', `jsonpath=${look}`]), 'ssd NoSchedule 10.244.0.0/24 127.0.0.1')
  match(await k(['get', 'csr', '--no-headers']), /^node-csr-\S+ .* system:bootstrap:abcdef .* Approved,Issued\n$/)
  const folder = join(cluster.up.folder, 'worker')
  for (const file of ['kubelet.kubeconfig', 'pki/kubelet-client-current.pem'])
    equal((await stat(join(folder, file))).mode & 0o777, 0o600, file)
  await k(['taint', 'node', 'worker', 'only-'])

  await k(['run', 'p', '--image=echo'])
  await k(['wait', 'pod/p', '--for=condition=Ready', '--timeout=200s'])
  match(await k(['get', 'pod', 'p', '-o', 'jsonpath={.status.podIP} {.spec.nodeName}']), /^10\.244\.0\.\d+ worker$/)
  await k(['logs', 'p'])
  const proxied = await cluster.ask(['get', '--raw', '/api/v1/nodes/worker/proxy/healthz'])
  match(proxied.err, /address not allowed/, 'as upstream: no client is passed on to loopback')

  const port = portOf(first.readyLine)
  equal(await statusAt(port, '/pods'), 401, 'who shows nothing')
  equal(await statusAt(port, '/pods', { authorization: 'Bearer nonsense' }), 401, 'an unknown token')
  const account = await k(['create', 'token', 'default'])
  const bearer = { authorization: `Bearer ${account.trim()}` }
  equal(await statusAt(port, '/pods', bearer), 403, 'who may not')
  await k(['create', 'clusterrole', 'see-pods', '--verb=get', '--resource=nodes/pods'])
  await k([
    'create',
    'clusterrolebinding',
    'see-pods',
    '--clusterrole=see-pods',
    '--serviceaccount=kube-system:default',
  ])
  const other = await k(['-n', 'kube-system', 'create', 'token', 'default'])
  const seer = { authorization: `Bearer ${other.trim()}` }
  await until(async () => (await statusAt(port, '/pods', seer)) === 200)
  equal(await statusAt(port, '/stats/summary', seer), 403, 'nodes/pods is not nodes/stats')

  await first.end('SIGKILL')
  const second = await cluster.kubelet('worker', ...simulated)
  notEqual(portOf(second.readyLine), 0)
  match(await k(['get', 'csr', '--no-headers']), /^[^\n]+\n$/, 'it asks for no other certificate')
  await k(['delete', 'pod', 'p', '--timeout=200s'])
  await k(['run', 'q', '--image=echo'])
  await k(['wait', 'pod/q', '--for=condition=Ready', '--timeout=200s'])
  await until(async () => (await cluster.ask(['logs', 'q'])).code === 0)
  equal(await second.end(), 0)
})

test('26: a wrong or expired token and a missing kubeconfig are reported clearly', async () => {
  await using cluster = await startJoinable()
  const wrong = await cluster.bootstrapKubeconfig('wrong', `${goodToken.id}.fedcba9876543210`)
  const refused = await cluster.refused('a', '--bootstrap-kubeconfig', wrong, ...simulated)
  equal(refused.code, 1)
  match(refused.err, /does not accept the token of \S+wrong\.bootstrap: it is wrong or has expired/)
  ok(!refused.err.includes('fedcba9876543210'))
  const late = { id: 'expire', secret: '0123456789abcdef' }
  await cluster.k(['apply', '-f', '-'], secretOf(late, { expiration: '2020-01-01T00:00:00Z' }))
  const expired = await cluster.bootstrapKubeconfig('late', `${late.id}.${late.secret}`)
  match((await cluster.refused('b', '--bootstrap-kubeconfig', expired, ...simulated)).err, /is wrong or has expired/)
  match(
    (await cluster.refused('c', ...simulated)).err,
    /there is no file \S+kubelet.kubeconfig, and no --bootstrap-kubeconfig/,
  )
  equal(await cluster.k(['get', 'nodes', '-o', 'name']), '')
})

test('26: a joined node can read the secrets of its own pods and of no other node', async () => {
  await using cluster = await startJoinable()
  const { k } = cluster
  const bootstrap = await cluster.bootstrapKubeconfig('good', token)
  for (const name of ['a', 'b']) await cluster.kubelet(name, '--bootstrap-kubeconfig', bootstrap, ...simulated)
  await k(['create', 'secret', 'generic', 'password', '--from-literal=p=x'])
  const volumes = [{ name: 'v', secret: { secretName: 'password' } }]
  const spec = { nodeName: 'a', containers: [{ name: 'c', image: 'i' }], volumes }
  await k(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec })
  await k(['wait', 'pod/p', '--for=condition=Ready', '--timeout=200s'])
  const as = (name: string) =>
    runKubectl(newest(), join(cluster.up.folder, name, 'kubelet.kubeconfig'), ['get', 'secret', 'password'])
  equal((await as('a')).code, 0)
  match((await as('b')).err, /no relationship found between node 'b' and this object/)
})

test('certificates are renewed before they expire; the serving certificate needs an approval', async () => {
  // They are valid from five minutes ago: most of their lifetime has passed when they are issued, and half a minute is
  // left to renew them.
  await using cluster = await startJoinable('--cluster-signing-duration', '40s')
  const { k } = cluster
  const bootstrap = await cluster.bootstrapKubeconfig('good', token)
  const running = await cluster.kubelet(
    'worker',
    ...['--bootstrap-kubeconfig', bootstrap, '--rotate-server-certificates', 'true', ...simulated],
  )
  const file = join(cluster.up.folder, 'worker/pki/kubelet-client-current.pem')
  const first = await readFile(file, 'utf8')
  await until(async () => (await readFile(file, 'utf8')) !== first)
  const pending = async () =>
    (await k(['get', 'csr', '-o', 'json'])).includes('kubernetes.io/kubelet-serving') ? serving(k) : undefined
  const name = await pending()
  ok(name !== undefined, 'it has asked for a certificate of its server')
  await k(['certificate', 'approve', name])
  await until(async () => (await issuerAt(portOf(running.readyLine))) === 'kubernetes')
  // The third certificate is still accepted.
  const second = await readFile(file, 'utf8')
  await until(async () => (await readFile(file, 'utf8')) !== second)
  await k(['run', 'p', '--image=echo'])
  await k(['wait', 'pod/p', '--for=condition=Ready', '--timeout=200s'])
  await k(['logs', 'p'])
})

async function serving(k: (args: readonly string[]) => Promise<string>): Promise<string | undefined> {
  const names = await k([
    'get',
    'csr',
    '-o',
    'jsonpath={range .items[*]}{.spec.signerName} {.metadata.name}{"\\n"}{end}',
  ])
  return /^kubernetes.io\/kubelet-serving (\S+)$/m.exec(names)?.[1]
}

/** The issuer of the server's certificate. */
async function issuerAt(port: number): Promise<string | undefined> {
  const request = get({ host: '127.0.0.1', port, path: '/healthz', rejectUnauthorized: false, agent: false })
  const [response] = (await once(request, 'response')) as [
    { socket: { getPeerCertificate(): { issuer?: { CN?: string } } }; resume(): void },
  ]
  const { issuer } = response.socket.getPeerCertificate()
  response.resume()
  return issuer?.CN
}
