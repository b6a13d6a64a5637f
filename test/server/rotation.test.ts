// The rotation of the key of ServiceAccount tokens on three servers with three members of etcd, while tokens and a watch are in use.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { context } from '../../src/base/observability/context.ts'
import { hasReason } from '../../src/api/errors/status-error.ts'
import type { TokenRequest } from '../../src/api/authentication/v1/token-request.ts'
import { configMap } from '../../src/api/core/v1/config-map.ts'
import { serviceAccount } from '../../src/api/core/v1/service-account.ts'
import { clusterRoleBinding } from '../../src/api/rbac/v1/cluster-role-binding.ts'
import { parseToken } from '../../src/apiserver/authentication/json-web-token.ts'
import { connect } from '../../src/cluster/client/connect.ts'
import { openRemote } from '../../src/cluster/client/remote.ts'
import { until } from '../until.ts'
import { newMachines, type Machine } from './server-process.ts'

const { signal } = new AbortController()
const ctx = context(signal)
const namespace = 'default'

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

const keyFile = ({ directory }: Machine): string => readFileSync(join(directory, 'pki', 'sa.key'), 'utf8')

test('a key is rotated on three servers', { timeout: 600_000 }, async (t) => {
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
    const { revision } = await own.client.of(configMap).list({ namespace }, ctx)
    const ended = new AbortController()
    const seen: string[] = []
    const watching = (async () => {
      const options = { namespace, resourceVersion: String(revision) }
      for await (const event of own.client.of(configMap).watch(options, context(ended.signal)))
        if (event.type === 'ADDED') seen.push(event.object.metadata.name)
    })()
    match(await second.command('rotate', 'service-account-key'), /^A new key signs ServiceAccount tokens\./)
    const fresh = await Promise.all(machines.map(newToken))
    equal(new Set(fresh.map(keyOf)).size, 1)
    notEqual(keyOf(fresh[0] ?? ''), keyOf(old))
    deepEqual(new Set(await accepted(machines, old, ...fresh)), new Set([true]))
    await admin.client.of(configMap).create({ metadata: { name: 'after-the-rotation' } }, namespace, ctx)
    await until(() => seen.includes('after-the-rotation'))
    ended.abort()
    await watching.catch(() => {}) // it was aborted
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
})
