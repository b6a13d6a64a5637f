// What a machine that becomes a server gets from a server over HTTPS, and why it gets nothing.
import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { Authority } from '../../pki/authority.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { publishClusterInfo } from '../bootstrap/cluster-info.ts'
import { createJoinToken, deleteJoinToken } from '../bootstrap/join-token.ts'
import type { ServerBundle } from '../bootstrap/server-bundle.ts'
import { createServerToken } from '../bootstrap/server-token.ts'
import { allowClusterInfo } from '../bootstrap/cluster-info.ts'
import { startJoinable } from './joinable-cluster.harness.ts'
import { fetchServerBundle } from './join-servers.ts'
import { parseJoinToken, pinnedToken } from '../client/join-token-text.ts'

const { signal } = new AbortController()
const ctx = context(signal)
const deps = { clock: realClock, random: systemRandom }

test('a machine with a token for servers gets their files; for others an error says why not', async () => {
  await using cluster = await startJoinable()
  const { admin, server } = cluster
  const { authority } = server.access
  const { url } = server
  await publishClusterInfo(admin, { server: url, authority }, ctx)
  await allowClusterInfo(admin, ctx)
  const bundle: ServerBundle = {
    files: { 'ca.crt': authority },
    settings: { 'cluster-cidr': '10.1.0.0/16' },
    store: { kind: 'managed', endpoints: ['https://192.0.2.1:2379'] },
  }
  const given = { ...deps, client: admin }
  const created = await createServerToken(given, { validMs: 3_600_000 }, bundle, ctx)
  const [id = '', secretText = '', key = ''] = created.split('.')
  const fetch = (text: string, pinned = authority) =>
    fetchServerBundle(url, parseJoinToken(pinnedToken(text, pinned, nodeCrypto), []), signal)
  deepEqual(await fetch(created), bundle)

  const forNodes = await createJoinToken(given, { validMs: 3_600_000 }, ctx)
  const [nodeId] = forNodes.split('.')
  const otherKey = '0'.repeat(key.length)
  await rejects(fetch(forNodes), new RegExp(`^Error: the token ${nodeId} is for nodes, not for servers; create one`))
  // A key behind a token for nodes makes it no token for servers.
  await rejects(fetch(`${forNodes}.${key}`), new RegExp(`^Error: the token ${nodeId} is for nodes, not for servers`))
  await rejects(fetch(`${id}.${secretText}.${otherKey}`), new RegExp(`^Error: the key in the token ${id} is wrong`))
  await rejects(
    fetch(`${id}.${'x'.repeat(16)}.${key}`),
    new RegExp(`does not accept the token ${id}: its secret is wrong$`),
  )
  const foreign = Authority.create('ca', { ...deps, crypto: nodeCrypto }).certificate
  await rejects(fetch(created, foreign), /^Error: the token belongs to another cluster than/)
  const others = { ...bundle, files: { 'ca.crt': foreign } }
  const replaced = await createServerToken(given, { validMs: 3_600_000 }, others, ctx)
  await rejects(fetch(replaced), /the authorities for the token \w+ are not those of https/)
  await deleteJoinToken(admin, id, ctx)
  await rejects(fetch(created), new RegExp(`the token ${id}: it is unknown, has expired or was deleted$`))
})
