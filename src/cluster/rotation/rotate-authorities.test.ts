// The rotation of the CAs in a cluster of several servers and nodes.
import { deepEqual, equal, notEqual, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { X509Certificate } from 'node:crypto'
import { context } from '../../base/observability/context.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pemBlocks } from '../../pki/pem.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { startCluster } from '../testing/start-cluster.ts'
import type { TestCluster } from '../testing/test-cluster.ts'
import { noteTrustedAuthority, publishedDigest } from './node-authority.ts'
import { retireAuthorities, rotateAuthorities } from './rotate-authorities.ts'
import { rotateAccountKey } from './rotate-account-key.ts'
import { ended, initial, rotation, Server } from './rotation.harness.ts'

const { signal } = new AbortController()
const ctx = context(signal)

/** All nodes trust what the server does. */
async function nodesFollow({ client }: TestCluster, server: Server): Promise<void> {
  const { items } = await client.of(node).list({}, ctx)
  for (const { metadata } of items)
    await noteTrustedAuthority(client, metadata.name, server.authority().trusted, nodeCrypto, ctx)
}

for (const name of ['ca', 'front-proxy-ca'] as const)
  test(`all servers trust the next ${name} before one signs with it, and the earlier one until it is retired`, async () => {
    await using cluster = await startCluster({ nodes: 0 })
    await using a = new Server(cluster, 'a')
    await using b = new Server(cluster, 'bb')
    const servers = [a, b]
    const first = a.authority(name).certificate
    for (const server of servers)
      server.onUse = () => {
        const { certificate } = server.authority(name)
        for (const each of servers)
          ok(each.authority(name).trusted.includes(certificate), 'all trust what one signs with')
      }
    deepEqual(await ended(cluster, rotateAuthorities(rotation(cluster), signal)), { isNew: true, missingNodes: [] })
    const { certificate: next, chain } = a.authority(name)
    notEqual(next, first)
    for (const each of servers) equal(each.authority(name).trusted, `${next}${first}`)
    // Clients that trust only the earlier CA find a path to it.
    equal(pemBlocks(chain).length, 1)
    ok(new X509Certificate(chain).verify(new X509Certificate(first).publicKey))
    ok(new X509Certificate(chain).checkIssued(new X509Certificate(first)))

    const later = () => rotation(cluster, [], a.files)
    // Another rotation does not start before this one has ended.
    deepEqual(await ended(cluster, rotateAuthorities(later(), signal)), { isNew: false, missingNodes: [] })
    equal(a.authority(name).certificate, next)
    equal(await ended(cluster, retireAuthorities({ ...later(), force: false }, signal)), true)
    for (const each of servers) {
      equal(each.authority(name).trusted, next)
      equal(each.authority(name).chain, '')
    }
    equal(await ended(cluster, retireAuthorities({ ...later(), force: false }, signal)), false)
  })

test('a server that was stopped during the rotation opens the files with the key of the earlier CA', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  await using a = new Server(cluster, 'a')
  await ended(cluster, rotateAuthorities(rotation(cluster), signal))
  await using late = new Server(cluster, 'late')
  await cluster.clock.advance('1s')
  equal(late.authority().certificate, a.authority().certificate)
  // Other keys are rotated with the new CA.
  await ended(cluster, rotateAccountKey(rotation(cluster, [], a.files), signal))
  equal(late.keys.signingId, a.keys.signingId)
})

test('the earlier CA is not retired while a node needs it', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  await cluster.clock.advance('1s')
  await using a = new Server(cluster, 'a')
  const progress: string[] = []
  deepEqual(await ended(cluster, rotateAuthorities(rotation(cluster, progress), signal)), {
    isNew: true,
    missingNodes: ['node-0', 'node-1'],
  })
  deepEqual(progress, [
    'waiting until all servers trust the new CA',
    'waiting until all servers use the new CA',
    'waiting until nodes trust the new CA, and have certificates of it',
  ])
  const deps = () => ({ ...rotation(cluster, [], a.files), force: false })
  await rejects(
    retireAuthorities(deps(), signal),
    /^Error: these nodes do not trust the new CA, or have a certificate of the earlier one: node-0, node-1\. /,
  )
  await nodesFollow(cluster, a)
  const before = publishedDigest(await cluster.client.of(node).get('node-0'))
  equal(await ended(cluster, retireAuthorities(deps(), signal)), true)
  // Nodes do not trust the earlier one any more, either.
  notEqual(publishedDigest(await cluster.client.of(node).get('node-0')), before)
})

test('an interrupted rotation is repeated, and leaves no trace', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  await using a = new Server(cluster, 'a')
  await using b = new Server(cluster, 'bb')
  b.failure = new Error('its disk is full')
  await rejects(ended(cluster, rotateAuthorities(rotation(cluster), signal)), /have? not confirmed|has not confirmed/)
  equal(a.authority().certificate, initial['ca.crt'])
  b.failure = undefined
  await ended(cluster, rotateAuthorities(rotation(cluster, [], a.files), signal))
  for (const each of [a, b]) equal(each.authority().trusted, `${a.authority().certificate}${initial['ca.crt']}`)
})

test('a rotation that ended while one server did not use the new CA is continued from the files of any server', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  await cluster.clock.advance('1s')
  await using a = new Server(cluster, 'a')
  await using b = new Server(cluster, 'bb')
  // It trusts the next CA, and then cannot store its key.
  b.onUse = () => (b.failure = new Error('its disk is full'))
  await rejects(
    ended(cluster, rotateAuthorities(rotation(cluster), signal)),
    /apiserver-\S+ on bb .* has not confirmed/,
  )
  const next = a.authority().certificate
  deepEqual([next === initial['ca.crt'], b.authority().certificate], [false, initial['ca.crt']])
  for (const { files } of [a, b]) {
    // Nothing is replaced while it does not.
    await rejects(ended(cluster, rotateAccountKey(rotation(cluster, [], files), signal)), /has not confirmed/)
    await nodesFollow(cluster, a)
    const deps = { ...rotation(cluster, [], files), force: false }
    await rejects(ended(cluster, retireAuthorities(deps, signal)), /has not confirmed/)
  }
  b.onUse = () => {}
  b.failure = undefined
  for (const { files } of [a, b])
    deepEqual(await ended(cluster, rotateAuthorities(rotation(cluster, [], files), signal)), {
      isNew: false,
      missingNodes: [],
    })
  equal(b.authority().certificate, next)
})
