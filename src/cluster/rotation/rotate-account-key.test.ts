// The rotation of the key of ServiceAccount tokens in a cluster of several servers.
import { deepEqual, equal, match, notEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { lease } from '../../api/coordination/v1/lease.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { AccountKeys } from '../../apiserver/authentication/account-keys.ts'
import { legacyTokenIssuer } from '../../apiserver/authentication/legacy-service-account-tokens.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { serverLeases } from '../bootstrap/server-identity.ts'
import { startCluster } from '../testing/start-cluster.ts'
import { distributeFiles } from './distribute-files.ts'
import { accountKeyFile, retireAccountKeys, rotateAccountKey } from './rotate-account-key.ts'
import { ended, initial, rotation, Server } from './rotation.harness.ts'
import { sharedFilesName } from './shared-files.ts'

const { signal } = new AbortController()
const ctx = context(signal)
const keyIdsOf = (servers: readonly Server[]) => servers.map(({ keys }) => [...keys.accepted.keys()])

test('all servers accept the new key before one signs with it, and the old one until it is retired', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  await using a = new Server(cluster, 'a')
  await using b = new Server(cluster, 'bb')
  const servers = [a, b]
  const oldId = a.keys.signingId
  const progress: string[] = []
  const used = new Set<string>()
  for (const each of servers) each.onUse = () => used.add([...each.keys.accepted.keys()].join(' '))
  await ended(cluster, rotateAccountKey(rotation(cluster, progress), signal))
  deepEqual(progress, [
    'waiting until all servers accept tokens of the new key',
    'waiting until all servers sign with the new key',
  ])
  const newId = a.keys.signingId
  notEqual(newId, oldId)
  deepEqual(used, new Set([`${oldId} ${newId}`, `${newId} ${oldId}`]))
  for (const { keys } of servers) equal(keys.signingId, newId)
  // Only the servers can read it.
  const { data = {}, type } = await cluster.client.of(secret).get(sharedFilesName, 'kube-system', ctx)
  equal(type, 'coxswain.dev/server-files')
  const texts = Object.values(data).map((value) => atob(value))
  equal(texts.join('').includes('PRIVATE'), false)
  equal(a.files[accountKeyFile]?.includes('PRIVATE'), true)

  equal(await ended(cluster, retireAccountKeys({ ...rotation(cluster), force: false }, signal)), 1)
  deepEqual(keyIdsOf(servers), [[newId], [newId]])
  equal(await ended(cluster, retireAccountKeys({ ...rotation(cluster), force: false }, signal)), 0)
})

test('a server that starts later takes over what was published while it did not run', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  await using a = new Server(cluster, 'a')
  await ended(cluster, rotateAccountKey(rotation(cluster), signal))
  await using late = new Server(cluster, 'late')
  await cluster.clock.advance('1s')
  deepEqual(keyIdsOf([late]), keyIdsOf([a]))
})

test('a server that does not confirm is named; nothing signs with the new key, and the command can be repeated', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  await using a = new Server(cluster, 'a')
  await using b = new Server(cluster, 'bb')
  const oldId = a.keys.signingId
  b.failure = new Error('its disk is full')
  await rejects(
    ended(cluster, rotateAccountKey(rotation(cluster), signal)),
    (error: Error) =>
      error.message.startsWith(`${b.identity.name} on bb (last seen 20`) &&
      error.message.endsWith(`kubectl -n kube-system delete lease ${b.identity.name}`) &&
      !error.message.includes(a.identity.name),
  )
  match(b.lines.join('\n'), /the files of servers were not taken over.*its disk is full/)
  deepEqual(
    [a, b].map(({ keys }) => keys.signingId),
    [oldId, oldId],
  )
  b.failure = undefined
  await ended(cluster, rotateAccountKey(rotation(cluster), signal))
  notEqual(a.keys.signingId, oldId)
  equal(b.keys.signingId, a.keys.signingId)
  // The server whose lease is deleted is not waited for.
  b.failure = new Error('gone')
  await b[Symbol.asyncDispose]()
  await cluster.client.of(lease).delete(b.identity.name, 'kube-system', {}, ctx)
  await ended(cluster, rotateAccountKey(rotation(cluster), signal))
})

test('a Secret with a token of an earlier key keeps that key', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  await using a = new Server(cluster, 'a')
  const { signing } = a.keys
  const accountOf = { namespace: 'default', account: { name: 'default', uid: 'u' } }
  const issuer = legacyTokenIssuer(new AccountKeys({ signing, accepted: [] }, nodeCrypto))
  const token = issuer.issue({ ...accountOf, secret: 'robot' })
  await cluster.client.of(secret).create(
    {
      metadata: { name: 'robot', annotations: { 'kubernetes.io/service-account.name': 'default' } },
      type: 'kubernetes.io/service-account-token',
      data: { token: btoa(token) },
    },
    'default',
    ctx,
  )
  await ended(cluster, rotateAccountKey(rotation(cluster), signal))
  await rejects(
    ended(cluster, retireAccountKeys({ ...rotation(cluster), force: false }, signal)),
    /^Error: these Secrets have tokens of an earlier key: default\/robot\. .*kubectl -n default patch secret robot/,
  )
  equal(a.keys.accepted.size, 2)
  equal(await ended(cluster, retireAccountKeys({ ...rotation(cluster), force: true }, signal)), 1)
  equal(a.keys.accepted.size, 1)
})

test('at most four earlier keys are accepted', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  await using a = new Server(cluster, 'a')
  for (let count = 0; count < 4; count++) await ended(cluster, rotateAccountKey(rotation(cluster), signal))
  await rejects(
    ended(cluster, rotateAccountKey(rotation(cluster), signal)),
    /tokens of 4 earlier keys are accepted; retire them first: coxswain rotate service-account-key --retire/,
  )
  equal(a.keys.accepted.size, 5)
})

const otherFiles = { ...initial, 'ca.key': nodeCrypto.generateKey().privateKey }

test('files of a cluster with another CA are left alone, and the error says what to do', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  await using a = new Server(cluster, 'a')
  await using other = new Server(cluster, 'other', otherFiles)
  const deps = { ...rotation(cluster), authorityKey: nodeCrypto.generateKey().privateKey }
  await rejects(
    ended(
      cluster,
      distributeFiles(() => ({}), deps, signal),
    ),
    /have not confirmed the new keys/,
  )
  const message = /cannot be opened with the key of this cluster's CA; .*delete secret coxswain-server-files/
  for (const server of [a, other]) {
    match(server.lines.join('\n'), message)
    equal(server.lines.length, 1)
  }
  await rejects(ended(cluster, rotateAccountKey(rotation(cluster), signal)), message)
})

test('the lease shows that a server runs, has upstream’s labels, and is deleted when it stops or after an hour', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  await using a = new Server(cluster, 'a')
  await using b = new Server(cluster, 'bb')
  await clock.advance('1s')
  const [first] = await serverLeases(client, ctx)
  match(a.identity.name, /^apiserver-[a-z2-7]{26}$/)
  const own = await client.of(lease).get(a.identity.name, 'kube-system', ctx)
  deepEqual(own.metadata.labels, {
    'apiserver.kubernetes.io/identity': 'kube-apiserver',
    'kubernetes.io/hostname': 'a',
  })
  match(own.spec.holderIdentity ?? '', new RegExp(`^${a.identity.name}_[-0-9a-f]{36}$`))
  equal(own.spec.leaseDurationSeconds, 3600)
  await clock.advance('10s')
  notEqual((await client.of(lease).get(a.identity.name, 'kube-system', ctx)).spec.renewTime, own.spec.renewTime)
  equal(first?.kind, 'Lease')
  // Deleted by hand, it is there again.
  await client.of(lease).delete(a.identity.name, 'kube-system', {}, ctx)
  await clock.advance('10s')
  equal((await serverLeases(client, ctx)).length, 2)
  await a.identity.withdraw(signal)
  await a[Symbol.asyncDispose]()
  equal((await serverLeases(client, ctx)).length, 1)
  await b[Symbol.asyncDispose]()
  await clock.advance('61m')
  equal((await serverLeases(client, ctx)).length, 1)
  await using later = new Server(cluster, 'later')
  await clock.advance('1s')
  deepEqual(
    (await serverLeases(client, ctx)).map(({ metadata }) => metadata.name),
    [later.identity.name],
  )
})

test('a server deletes the lease of one that was killed while it runs itself', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  await using a = new Server(cluster, 'a')
  const killed = new Server(cluster, 'bb')
  await cluster.clock.advance('1s')
  await killed[Symbol.asyncDispose]()
  await cluster.clock.advance('59m')
  equal((await serverLeases(cluster.client, ctx)).length, 2)
  await cluster.clock.advance('15m')
  deepEqual(
    (await serverLeases(cluster.client, ctx)).map(({ metadata }) => metadata.name),
    [a.identity.name],
  )
  match(
    a.lines.join('\n'),
    new RegExp(`the lease of an API server that has ended was deleted lease=${killed.identity.name}`),
  )
})
