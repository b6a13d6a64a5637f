// The rotation of the key of ServiceAccount tokens, of that of encryption at rest, and of the CAs, on three servers with three members of
// etcd and a node in a process of its own, while clients, tokens and a watch are in use.
import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { context } from '../../src/base/observability/context.ts'
import { hasReason } from '../../src/api/errors/status-error.ts'
import type { TokenRequest } from '../../src/api/authentication/v1/token-request.ts'
import { configMap } from '../../src/api/core/v1/config-map.ts'
import { node } from '../../src/api/core/v1/node/node.ts'
import { secret } from '../../src/api/core/v1/secret.ts'
import { serviceAccount } from '../../src/api/core/v1/service-account.ts'
import { clusterRoleBinding } from '../../src/api/rbac/v1/cluster-role-binding.ts'
import { parseToken } from '../../src/apiserver/authentication/json-web-token.ts'
import type { Client } from '../../src/client/client.ts'
import { connect } from '../../src/cluster/client/connect.ts'
import { openRemote } from '../../src/cluster/client/remote.ts'
import { pemBlocks } from '../../src/pki/pem.ts'
import { coxswain, newFolder, startProcess } from '../process.ts'
import { until } from '../until.ts'
import { newMachines, type Machine } from './server-process.ts'

const { signal } = new AbortController()
const ctx = context(signal)
const namespace = 'default'
const run = promisify(execFile)

async function newToken({ kubeconfig }: Machine): Promise<string> {
  await using connection = await connect(kubeconfig)
  const accounts = connection.client.of(serviceAccount)
  const answer = (await accounts.createSubresource('default', namespace, 'token', { spec: {} }, ctx)) as TokenRequest
  return answer.status.token ?? ''
}

const keyOf = (token: string): string => parseToken(token)?.keyId ?? ''

/** A client that has nothing but the token. */
async function withToken({ kubeconfig }: Machine, token: string) {
  const remote = await openRemote(await readFile(kubeconfig, 'utf8'), signal)
  const client = remote.clientWith('test', {
    headers: () => Promise.resolve({ authorization: `Bearer ${token}` }),
  })
  return { client, [Symbol.asyncDispose]: () => remote.close() }
}

async function isAccepted(machine: Machine, token: string): Promise<boolean> {
  await using own = await withToken(machine, token)
  return await own.client
    .of(configMap)
    .list({ namespace }, ctx)
    .then(
      () => true,
      (error: unknown) => {
        ok(hasReason(error, 'Unauthorized'), String(error))
        return false
      },
    )
}

/** Which servers accept which tokens, in the order of both. */
const accepted = (machines: readonly Machine[], ...tokens: readonly string[]) =>
  Promise.all(machines.flatMap((machine) => tokens.map((token) => isAccepted(machine, token))))

/** The names of configmaps that a client sees in a watch, over one connection. */
async function watchNames(client: Client) {
  const { revision } = await client.of(configMap).list({ namespace }, ctx)
  const ending = new AbortController()
  const seen: string[] = []
  const watching = (async () => {
    const options = { namespace, resourceVersion: String(revision) }
    for await (const event of client.of(configMap).watch(options, context(ending.signal)))
      if (event.type === 'ADDED') seen.push(event.object.metadata.name)
  })()
  return {
    seen,
    async [Symbol.asyncDispose]() {
      ending.abort()
      await watching.catch(() => {}) // it was aborted
    },
  }
}

const keyFile = ({ directory }: Machine): string => readFileSync(join(directory, 'pki', 'sa.key'), 'utf8')

const configFile = ({ directory }: Machine): string =>
  readFileSync(join(directory, 'pki', 'encryption-config.yaml'), 'utf8')

test('keys are rotated on three servers', { timeout: 600_000 }, async (t) => {
  await using made = await newMachines()
  const { machines } = made
  const [first, second, third] = machines
  await first.start('--init')
  const serverToken = (await first.command('token', 'create', '--server')).trim()
  await Promise.all([second, third].map((machine) => machine.start('--join', first.url, '--token', serverToken)))
  await using admin = await connect(first.kubeconfig)
  await admin.client.of(clusterRoleBinding).create(
    {
      metadata: { name: 'test' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', namespace, name: 'default' }],
    },
    ctx,
  )
  await until(async () => (await admin.client.of(serviceAccount).find('default', namespace, ctx)) !== undefined)
  const old = await newToken(second)
  await until(async () => !(await accepted(machines, old)).includes(false))

  await t.test('a token and a watch of the old key stay in use, and all servers sign with the new key', async () => {
    await using own = await withToken(third, old)
    await using watch = await watchNames(own.client)
    match(await second.command('rotate', 'service-account-key'), /^A new key signs ServiceAccount tokens\./)
    const fresh = await Promise.all(machines.map(newToken))
    equal(new Set(fresh.map(keyOf)).size, 1)
    notEqual(keyOf(fresh[0] ?? ''), keyOf(old))
    deepEqual(new Set(await accepted(machines, old, ...fresh)), new Set([true]))
    await admin.client.of(configMap).create({ metadata: { name: 'after-the-rotation' } }, namespace, ctx)
    await until(() => watch.seen.includes('after-the-rotation'))
    equal(keyFile(first), keyFile(third))
  })

  await t.test('a server that was stopped takes over the key', async () => {
    await third.end()
    await first.command('rotate', 'service-account-key')
    await third.start()
    const next = await newToken(first)
    await until(async () => keyOf(await newToken(third)) === keyOf(next))
    equal(keyFile(third), keyFile(first))
    deepEqual(await accepted(machines, old, next), [true, true, true, true, true, true])
  })

  await t.test('when earlier keys are retired, only tokens of the present one are accepted', async () => {
    const present = await newToken(third)
    equal(
      await third.command('rotate', 'service-account-key', '--retire'),
      'Tokens of 2 earlier keys are no longer accepted.\n',
    )
    deepEqual(await accepted(machines, old, present), [false, true, false, true, false, true])
    equal(keyFile(first).includes('PUBLIC KEY'), false)
  })

  await t.test('the key of encryption at rest is replaced, also on a server that does not run meanwhile', async () => {
    const secrets = admin.client.of(secret)
    const make = (name: string) => secrets.create({ metadata: { name }, data: { a: btoa(name) } }, namespace, ctx)
    await make('before')
    await using watch = await watchNames(admin.client)
    match(
      await first.command('rotate', 'encryption-key'),
      /^Secrets are encrypted at rest now\. \d+ objects were stored again\.\n$/,
    )
    await make('later')
    await third.end()
    match(await second.command('rotate', 'encryption-key'), /^A new key encrypts objects\..*--retire\n$/)
    await make('latest')
    const earlier = configFile(third)
    // It can decrypt nothing with the key that it has.
    equal(
      await first.command('rotate', 'encryption-key', '--retire'),
      'The earlier key can no longer decrypt objects.\n',
    )
    await third.start()
    notEqual(configFile(third), earlier)
    equal(configFile(third), configFile(first))
    for (const machine of machines) {
      await using own = await connect(machine.kubeconfig)
      for (const name of ['before', 'later', 'latest'])
        equal(atob((await own.client.of(secret).get(name, namespace, ctx)).data?.['a'] ?? ''), name)
    }
    await admin.client.of(configMap).create({ metadata: { name: 'after-the-encryption' } }, namespace, ctx)
    await until(() => watch.seen.includes('after-the-encryption'))
  })

  await t.test('the CA is replaced while a client, a watch, a token and a node are in use', async () => {
    const token = await newToken(first)
    const folder = await newFolder()
    await using _folder = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
    const joining = (
      await run(coxswain, ['token', 'create', '--pinned', '--kubeconfig', first.kubeconfig])
    ).stdout.trim()
    const flags = ['--server', first.url, '--token', joining, '--data-dir', folder, '--hostname-override', 'worker']
    const ports = ['--runtime', 'simulated', '--lb-server-port', '0', '--port', '0', '--healthz-port', '0']
    await using agent = await startProcess(['agent', ...flags, ...ports])
    const certificateOf = () => readFileSync(join(folder, 'pki', 'kubelet-client-current.pem'), 'utf8')
    const earlier = { kubeconfig: readFileSync(second.kubeconfig, 'utf8'), certificate: certificateOf() }

    // A client that knows nothing but the earlier CA and a certificate of it.
    await using client = await connect(earlier.kubeconfig)
    await using watch = await watchNames(client.client)
    match(await second.command('rotate', 'ca'), /^A new CA signs certificates\..*--retire\n$/)
    for (const machine of machines)
      ok(authoritiesOf(machine).length === 3, 'the next, the earlier, and one that joins them')
    await client.client.of(configMap).create({ metadata: { name: 'after-the-ca' } }, namespace, ctx)
    await until(() => watch.seen.includes('after-the-ca'))
    for (const machine of machines) {
      await using fresh = await connect(earlier.kubeconfig.replaceAll(second.url, machine.url))
      await fresh.client.of(configMap).get('after-the-ca', namespace, ctx)
    }
    deepEqual(await accepted(machines, token), [true, true, true])
    notEqual(certificateOf(), earlier.certificate)

    match(await third.command('rotate', 'ca', '--retire'), /^The earlier CA is no longer trusted\.\n$/)
    for (const machine of machines) equal(authoritiesOf(machine).length, 1)
    await using late = await connect(earlier.kubeconfig)
    await rejects(late.client.of(configMap).list({ namespace }, ctx), /certificate/)
    await using present = await connect(first.kubeconfig)
    const worker = () => present.client.of(node).get('worker', '', ctx)
    const heartbeat = async () =>
      (await worker()).status.conditions?.find(({ type }) => type === 'Ready')?.lastHeartbeatTime
    await present.client.of(node).patch('worker', '', { metadata: { labels: { changed: 'yes' } } }, 'merge', ctx)
    equal(typeof (await heartbeat()), 'string')
    // The node has a certificate of the new CA and trusts it, also after a restart.
    await agent.end()
    await using again = await startProcess(['agent', '--data-dir', folder, '--hostname-override', 'worker', ...ports])
    await until(() => again.printed().includes('ready: node worker'))
  })
})

const authoritiesOf = ({ directory }: Machine): readonly string[] =>
  pemBlocks(readFileSync(join(directory, 'pki', 'ca.crt'), 'utf8'), 'CERTIFICATE')
