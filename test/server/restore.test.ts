// All machines of a control plane are lost. One file and its passphrase give the same cluster on new machines: certificates, tokens and
// workers stay valid, nothing that the file has is lost, and resource versions never go back.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { systemRandom } from '../../src/base/random/random.ts'
import { context } from '../../src/base/observability/context.ts'
import { configMap } from '../../src/api/core/v1/config-map.ts'
import { namespace as namespaceKind } from '../../src/api/core/v1/namespace.ts'
import { secret } from '../../src/api/core/v1/secret.ts'
import { serviceAccount } from '../../src/api/core/v1/service-account.ts'
import { service } from '../../src/api/core/v1/service/service.ts'
import { connect } from '../../src/cluster/client/connect.ts'
import { kubectls, runKubectl } from '../kubectl.ts'
import { coxswain, startProcess, type RunningProcess } from '../process.ts'
import { until, untilMatch } from '../until.ts'
import { newMachines, type Machine } from './server-process.ts'

const { signal } = new AbortController()
const ctx = context(signal)
const namespace = 'default'
const kubectl = kubectls().at(-1)
const run = async (...args: string[]) => (await promisify(execFile)(coxswain, args)).stdout

async function k(kubeconfig: string, ...args: string[]): Promise<string> {
  if (kubectl === undefined) throw new Error('there is no kubectl')
  const { code, out, err } = await runKubectl(kubectl, kubeconfig, args)
  equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
  return out.trim()
}

/** Everything of some kinds, without what changes by itself. */
async function state(kubeconfig: string) {
  await using connection = await connect(kubeconfig)
  const { client } = connection
  const maps = await client.of(configMap).list({ namespace }, ctx)
  const secrets = await client.of(secret).list({ namespace }, ctx)
  const namespaces = await client.of(namespaceKind).list({}, ctx)
  const accounts = await client.of(serviceAccount).list({}, ctx)
  const services = await client.of(service).list({}, ctx)
  const own = maps.items.filter(({ metadata }) => metadata.name.startsWith('map-'))
  return {
    revision: maps.revision,
    revisions: own.map(({ metadata }) => Number(metadata.resourceVersion)),
    objects: {
      maps: own.map(({ metadata, data }) => [metadata.name, metadata.uid, data?.['n']]),
      secrets: secrets.items.map(({ metadata, data }) => [metadata.name, metadata.uid, data?.['password']]),
      namespaces: namespaces.items.map(({ metadata }) => [metadata.name, metadata.uid]),
      accounts: accounts.items.map(({ metadata }) => [metadata.namespace, metadata.name, metadata.uid]),
      services: services.items.map(({ metadata, spec }) => [metadata.name, metadata.uid, spec.clusterIP]),
    },
  }
}

async function create(kubeconfig: string, from: number, to: number): Promise<void> {
  await using connection = await connect(kubeconfig)
  const maps = connection.client.of(configMap)
  const numbers = Array.from({ length: to - from }, (_, at) => from + at)
  await Promise.all(
    numbers.map((n) => maps.create({ metadata: { name: `map-${n}` }, data: { n: String(n) } }, namespace, ctx)),
  )
}

/** The error of a watch from a revision. */
async function watchFrom(kubeconfig: string, resourceVersion: string): Promise<unknown> {
  await using connection = await connect(kubeconfig)
  try {
    for await (const event of connection.client.of(configMap).watch({ namespace, resourceVersion }, ctx)) return event
    return undefined
  } catch (error) {
    return error
  }
}

/** The kubeconfig of a token instead of the certificate of an admin. */
async function tokenKubeconfig(admin: string, token: string): Promise<string> {
  const path = `${admin}.token`
  const text = await readFile(admin, 'utf8')
  const withToken = text
    .replace(/^.*client-key-data.*\n/m, '')
    .replace(/client-certificate-data"?: .*$/m, (found) =>
      found.replace(/client-certificate-data("?): .*/, `token$1: "${token}"`),
    )
  await writeFile(path, withToken, { mode: 0o600 })
  return path
}

const encryption = () => `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
  - resources: [secrets]
    providers:
      - secretbox:
          keys: [{ name: first, secret: ${systemRandom.bytes(32).toBase64()} }]
      - identity: {}
`

test('a control plane is restored from one file', { timeout: 900_000 }, async (t) => {
  await using made = await newMachines()
  const { machines } = made
  const [first, second, third] = machines
  await using ended = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-restore-'))
  ended.defer(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'backup')
  const passphrase = join(folder, 'passphrase')
  await writeFile(passphrase, 'correct horse battery\n', { mode: 0o600 })
  const secretly = ['--passphrase-file', passphrase]
  const config = join(folder, 'encryption.yaml')
  await writeFile(config, encryption(), { mode: 0o600 })
  const join2 = async (machine: Machine, through: Machine) => {
    const token = (await through.command('token', 'create', '--server')).trim()
    await machine.start('--join', through.url, '--token', token)
  }
  const agent = ['agent', '--data-dir', join(folder, 'worker'), '--hostname-override', 'worker']
  const worker = ['--runtime', 'simulated', '--lb-server-port', '0']
  const isReady = (kubeconfig: string) => () =>
    runKubectl(kubectl ?? { version: '', path: '' }, kubeconfig, [
      ...['get', 'node', 'worker', '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'],
    ]).then(({ out }) => out)
  const kept = join(folder, 'admin.kubeconfig')
  let token = ''
  let before: Awaited<ReturnType<typeof state>>
  let lost: number

  await t.test('a snapshot of three servers', async () => {
    await first.start('--init', '--encryption-provider-config', config, '--service-cluster-ip-range', '10.77.0.0/16')
    await join2(second, first)
    await join2(third, first)
    await create(first.kubeconfig, 0, 200)
    await k(first.kubeconfig, 'create', 'secret', 'generic', 'hidden', '--from-literal=password=hunter2')
    await k(first.kubeconfig, 'create', 'service', 'clusterip', 'web', '--tcp=80:80')
    token = await k(first.kubeconfig, 'create', 'token', 'default', '--duration=24h')
    const nodeToken = (await run('token', 'create', '--pinned', '--kubeconfig', second.kubeconfig)).trim()
    await using running = await startProcess([...agent, ...worker, '--server', second.url, '--token', nodeToken])
    await untilMatch(isReady(first.kubeconfig), /True/)
    before = await state(first.kubeconfig)
    match(await third.command('snapshot', file, ...secretly), /is encrypted with the passphrase/)
    equal((await stat(file)).mode & 0o777, 0o600)
    ok(!(await readFile(file)).includes('map-1'))
    // Written after the snapshot, so it is lost. Clients have seen the revisions.
    await create(first.kubeconfig, 200, 300)
    lost = (await state(first.kubeconfig)).revision
    await cp(second.kubeconfig, kept)
    await running.end()
  })

  await t.test('a cluster on etcd that does not run cannot be copied, and says so', async () => {
    await Promise.all(machines.map((machine) => machine.end()))
    match(await third.failure('snapshot', `${file}-2`), /is taken while it runs; etcd at \S.* cannot be reached/)
  })

  await t.test('the first new machine has the cluster', async () => {
    await Promise.all(machines.map((machine) => machine.lose()))
    await rm(config)
    match(await second.command('restore', file, ...secretly), /coxswain server --init --bind <address>/)
    await second.start('--init')
    equal(second.running?.logged().match(/raised with writes/), null)
    // The kubeconfig of before, at the address of before.
    const after = await state(kept)
    deepEqual(after.objects, before.objects)
    ok(after.revisions.every((revision) => revision > lost))
    for (const revision of [before.revision, lost])
      match(String(await watchFrom(kept, String(revision))), /too old resource version|Expired|Gone/i)
    equal(
      await k(await tokenKubeconfig(kept, token), 'auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}'),
      'system:serviceaccount:default:default',
    )
    // The range of Services is that of before, without a flag.
    match(await k(kept, 'get', 'service', 'kubernetes', '-o', 'jsonpath={.spec.clusterIP}'), /^10\.77\.0\.1$/)
  })

  await t.test('others join it with one command, and all have the same revisions', async () => {
    await join2(first, second)
    await join2(third, second)
    await until(async () => (await second.members()).length === 3)
    await create(third.kubeconfig, 1_000, 1_001)
    const states = await Promise.all(machines.map(({ kubeconfig }) => state(kubeconfig)))
    for (const each of states) {
      deepEqual(each.objects, states[0]?.objects)
      deepEqual(each.revisions, states[0]?.revisions)
    }
    // Without the one that was restored the two others have everything.
    await second.end()
    await until(() =>
      create(third.kubeconfig, 1_001, 1_002).then(
        () => true,
        () => false,
      ),
    )
    equal((await state(first.kubeconfig)).objects.maps.length, 202)
    await second.start()
  })

  await t.test('the worker continues without a token', async () => {
    const running: RunningProcess = ended.use(await startProcess([...agent, ...worker]))
    await k(first.kubeconfig, 'run', 'again', '--image=app:1', '--restart=Never')
    await k(first.kubeconfig, 'wait', 'pod/again', '--for=condition=Ready', '--timeout=200s')
    await running.end()
  })

  await t.test('the same file gives a cluster on SQLite', async () => {
    const single = join(folder, 'single')
    const admin = join(single, 'admin.kubeconfig')
    match(await run('restore', file, ...secretly, '--data-dir', single), /coxswain up/)
    await using _ = await startProcess(['up', '--runtime', 'none', '--port', '0', '--data-dir', single])
    deepEqual((await state(admin)).objects, before.objects)
  })
})
