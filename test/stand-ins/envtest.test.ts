// The executables of `coxswain tools link`, started as envtest starts upstream's: the same probes, flags, files, health checks and
// stop, then what tests do with them.
import { deepEqual, equal, match } from 'node:assert/strict'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { systemRandom } from '../../src/base/random/random.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { Authority, type Identity } from '../../src/pki/authority.ts'
import { nodeCrypto } from '../../src/platform/node/crypto.ts'
import { coxswain } from '../process.ts'
import { until } from '../until.ts'

const run = promisify(execFile)
/** Of envtest's own stop, before it kills the process. */
const stopMsMax = 20_000
const directory = await mkdtemp(join(tmpdir(), 'coxswain-envtest-'))
after(() => rm(directory, { recursive: true, force: true }))
const assets = join(directory, 'assets')

const authorityDeps = { clock: realClock, random: systemRandom, crypto: nodeCrypto }
/** As in envtest, the CA of the serving certificate is another one than that of clients. */
const servingAuthority = Authority.create('envtest-environment', authorityDeps)
const authority = Authority.create('envtest-environment', authorityDeps)
const client = (commonName: string, ...organizations: string[]): Identity =>
  authority.issue({ subject: { commonName, organizations }, uses: ['client'] })
const admin = client('default', 'system:masters')

async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

interface Started {
  readonly child: ChildProcess
  printed(): string
  /** SIGTERM to the process group; returns the exit code. */
  stop(): Promise<number | null>
}

function start(name: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}): Started {
  const child = spawn(join(assets, name), args, { detached: true, env: { ...process.env, ...environment } })
  const exited = once(child, 'exit') as Promise<[number | null]>
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (printed += piece.toString()))
  after(() => child.kill('SIGKILL'))
  return {
    child,
    printed: () => printed,
    async stop() {
      process.kill(-(child.pid ?? 0), 'SIGTERM')
      const killing = realClock.after(stopMsMax, () => child.kill('SIGKILL'))
      const [code] = await exited
      killing.cancel()
      return code
    },
  }
}

interface Answer {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of every shape
  readonly body: any
}

const send = async (
  port: number,
  method: string,
  path: string,
  { identity, token, body }: { readonly identity?: Identity; readonly token?: string; readonly body?: object } = {},
): Promise<Answer> => {
  const request = httpsRequest({
    host: '127.0.0.1',
    port,
    path,
    method,
    ca: servingAuthority.certificate,
    ...(identity && { cert: identity.certificate, key: identity.key }),
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    agent: false,
  })
  request.end(body && JSON.stringify(body))
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const content = await text(response)
  return { status: response.statusCode ?? 0, body: content.startsWith('{') ? JSON.parse(content) : content }
}

const isUp = async (check: () => Promise<boolean>): Promise<boolean> => check().catch(() => false)

/** Envtest's own search in the help of an executable. */
async function hasFlag(name: string, flag: string): Promise<boolean> {
  const { stdout, stderr } = await run(join(assets, name), ['--help'])
  return new RegExp(String.raw`^\s*--${flag}\b`, 'm').test(stdout + stderr)
}

/** What envtest makes and starts, with its flags in its order; `more` are those that a project adds. */
async function startControlPlane(
  name: string,
  environment: NodeJS.ProcessEnv = {},
  more: (ca: string) => readonly string[] = () => [],
) {
  const folder = join(directory, name)
  const certificates = join(folder, 'certs')
  await mkdir(certificates, { recursive: true })
  const etcdUrl = `http://127.0.0.1:${await freePort()}`
  const dataDirectory = join(folder, 'etcd')
  // It exists, and is empty.
  await mkdir(dataDirectory)
  const etcd = start('etcd', [
    `--advertise-client-urls=${etcdUrl}`,
    `--data-dir=${dataDirectory}`,
    `--listen-client-urls=${etcdUrl}`,
    `--listen-peer-urls=http://127.0.0.1:${await freePort()}`,
    ...((await hasFlag('etcd', 'unsafe-no-fsync')) ? ['--unsafe-no-fsync=true'] : []),
  ])
  await until(() => isUp(async () => (await fetch(`${etcdUrl}/health`)).status === 200))

  const port = await freePort()
  const addresses = ['127.0.0.1', '10.0.0.1']
  const serving = servingAuthority.issue({
    subject: { commonName: 'localhost', organizations: [] },
    uses: ['server'],
    dnsNames: ['localhost'],
    addresses,
  })
  // Of a CA that nothing else knows: only the key of the certificate counts.
  const signers = Authority.create('envtest-environment', authorityDeps)
  const accounts = signers.issue({ subject: { commonName: 'sa-signer', organizations: [] }, uses: ['client'] })
  const file = async (fileName: string, content: string): Promise<string> => {
    const path = join(certificates, fileName)
    await writeFile(path, content, { mode: 0o640 })
    return path
  }
  await file('apiserver.crt', serving.certificate)
  await file('apiserver.key', serving.key)
  const ca = await file('client-cert-auth-ca.crt', authority.certificate)
  const apiServer = start(
    'kube-apiserver',
    [
      '--allow-privileged=true',
      '--authorization-mode=RBAC',
      '--bind-address=127.0.0.1',
      `--cert-dir=${certificates}`,
      `--client-ca-file=${ca}`,
      '--disable-admission-plugins=ServiceAccount',
      `--etcd-servers=${etcdUrl}`,
      `--secure-port=${port}`,
      `--service-account-issuer=https://127.0.0.1:${port}/`,
      `--service-account-key-file=${await file('sa-signer.crt', accounts.certificate)}`,
      `--service-account-signing-key-file=${await file('sa-signer.key', accounts.key)}`,
      '--service-cluster-ip-range=10.0.0.0/24',
      ...more(ca),
    ],
    environment,
  )
  await until(async () => {
    equal(apiServer.child.exitCode, null, apiServer.printed())
    return isUp(async () => (await send(port, 'GET', '/healthz')).status === 200)
  })
  return { folder, certificates, etcd, apiServer, port }
}

const configMaps = '/api/v1/namespaces/default/configmaps'

test('the folder has read-only executables', async () => {
  await run(coxswain, ['tools', 'link', assets])
  for (const name of ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl']) {
    const { mode } = await stat(join(assets, name))
    equal(mode & 0o777, 0o555, name)
  }
  // Again, after an update.
  await run(coxswain, ['tools', 'link', assets])
})

test('files of others are not replaced', async () => {
  const other = join(directory, 'other')
  await mkdir(other)
  await writeFile(join(other, 'kubectl'), 'of the user')
  const error = await run(coxswain, ['tools', 'link', other]).then(
    () => undefined,
    (thrown: { readonly stderr: string }) => thrown,
  )
  match(error?.stderr ?? '', /other\/kubectl was not written by coxswain tools link; it stays as it is/)
  equal(existsSync(join(other, 'etcd')), false)
})

test('the probes of envtest', async () => {
  equal(await hasFlag('etcd', 'unsafe-no-fsync'), true)
  equal(await hasFlag('kube-apiserver', 'etcd-servers'), true)
  equal(await hasFlag('kube-apiserver', 'insecure-port'), false)
})

test('a control plane starts, serves its clients and stops as envtest expects', async () => {
  const { certificates, etcd, apiServer, port } = await startControlPlane('plain')
  const as = { identity: admin }
  equal((await send(port, 'GET', configMaps)).status, 403, 'without credentials')
  await until(async () => (await send(port, 'GET', '/api/v1/namespaces/default', as)).status === 200)
  equal((await send(port, 'POST', configMaps, { ...as, body: { metadata: { name: 'a' } } })).status, 201)
  equal((await send(port, 'GET', `${configMaps}/a`, as)).body.metadata.name, 'a')
  equal((await send(port, 'GET', '/version')).body.minor, '36')

  const account = '/api/v1/namespaces/default/serviceaccounts'
  equal((await send(port, 'POST', account, { ...as, body: { metadata: { name: 'tester' } } })).status, 201)
  const { status, body } = await send(port, 'POST', `${account}/tester/token`, { ...as, body: { spec: {} } })
  equal(status, 201)
  const { token } = body.status
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const who = await send(port, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', { token, body: review })
  equal(who.body.status.userInfo.username, 'system:serviceaccount:default:tester')
  const issuer = JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString()) as { iss: string }
  equal(issuer.iss, `https://127.0.0.1:${port}/`)

  const stranger = Authority.create('envtest-environment', authorityDeps).issue({
    subject: { commonName: 'default', organizations: ['system:masters'] },
    uses: ['client'],
  })
  equal((await send(port, 'GET', configMaps, { identity: stranger })).status, 401, 'a certificate of another CA')
  equal(existsSync(join(certificates, 'coxswain/admin.kubeconfig')), false)
  equal(await apiServer.stop(), 0, apiServer.printed())
  equal(await etcd.stop(), 0, etcd.printed())
})

test('with COXSWAIN_ENVTEST=controllers, a Deployment runs, and namespaces and dependents are deleted', async () => {
  const { port, apiServer, etcd } = await startControlPlane(
    'controllers',
    { COXSWAIN_ENVTEST: 'controllers' },
    (ca) => [
      '--advertise-address=127.0.0.1',
      `--requestheader-client-ca-file=${ca}`,
      '--requestheader-allowed-names=front-proxy',
      '--feature-gates=SomeGate=true',
      '--runtime-config=api/all=true',
      '--max-requests-inflight=100',
      '--v=2',
    ],
  )
  const as = { identity: admin }
  const labels = { app: 'web' }
  const deployment = {
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'none' }] } },
    },
  }
  equal((await send(port, 'POST', '/api/v1/namespaces', { ...as, body: { metadata: { name: 'own' } } })).status, 201)
  const deployments = '/apis/apps/v1/namespaces/own/deployments'
  equal((await send(port, 'POST', deployments, { ...as, body: deployment })).status, 201)
  await until(async () => (await send(port, 'GET', `${deployments}/web`, as)).body.status?.readyReplicas === 2)
  equal((await send(port, 'DELETE', `${deployments}/web`, as)).status, 200)
  await until(async () => (await send(port, 'GET', '/api/v1/namespaces/own/pods', as)).body.items.length === 0)
  equal((await send(port, 'DELETE', '/api/v1/namespaces/own', as)).status, 200)
  await until(async () => (await send(port, 'GET', '/api/v1/namespaces/own', as)).status === 404)
  deepEqual([await apiServer.stop(), await etcd.stop()], [0, 0], apiServer.printed())
})
