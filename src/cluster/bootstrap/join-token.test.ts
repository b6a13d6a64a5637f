import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { seededRandom } from '../../base/random/random.ts'
import { rfc3339 } from '../../base/time/clock.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { roleBinding } from '../../api/rbac/v1/role-binding.ts'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import { startCluster } from '../testing/start-cluster.ts'
import { createJoinToken, deleteJoinToken, listJoinTokens, type ListedToken } from './join-token.ts'

const called = context(new AbortController().signal)

test('a token is a Secret that ends; the bindings are created once', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const deps = { client, clock, random: seededRandom(1) }
  const hour = { validMs: 3_600_000 }
  const tokens = [await createJoinToken(deps, hour, called), await createJoinToken(deps, hour, called)]
  for (const token of tokens) match(token, /^[a-z0-9]{6}\.[a-z0-9]{16}$/)
  const [id = '', key = ''] = tokens[0]?.split('.') ?? []
  const { type, data = {} } = await client.of(secret).get(`bootstrap-token-${id}`, 'kube-system')
  equal(type, 'bootstrap.kubernetes.io/token')
  const text = (name: string) => Buffer.from(data[name] ?? '', 'base64').toString()
  deepEqual([text('token-secret'), text('usage-bootstrap-authentication')], [key, 'true'])
  equal(Date.parse(text('expiration')), clock.nowMs() + 3_600_000)
  const bound = (await client.of(clusterRoleBinding).list()).items.filter(({ metadata }) =>
    metadata.name.startsWith('coxswain:node-'),
  )
  deepEqual(
    bound.map(({ roleRef, subjects }) => [roleRef.name, subjects?.[0]?.name]),
    [
      ['system:certificates.k8s.io:certificatesigningrequests:nodeclient', 'system:bootstrappers'],
      ['system:certificates.k8s.io:certificatesigningrequests:selfnodeclient', 'system:nodes'],
      ['system:node-bootstrapper', 'system:bootstrappers'],
    ],
  )
})

test('tokens are listed without their secrets and deleted; anyone may read what a joining machine needs', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const deps = { client, clock, random: seededRandom(2) }
  const create = (validMs: number, description?: string) => createJoinToken(deps, { validMs, description }, called)
  const tokens = [await create(0, 'for rack 7'), await create(3_600_000)]
  const [first = '', second = ''] = tokens.map((token) => token.slice(0, 6))
  const expiration = rfc3339(clock.nowMs() + 3_600_000)
  const usages = ['authentication', 'signing']
  const byId = (listed: readonly ListedToken[]) => listed.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  deepEqual(
    byId(await listJoinTokens(client, called)),
    byId([
      { id: first, expiration: undefined, usages, description: 'for rack 7', groups: '' },
      { id: second, expiration, usages, description: '', groups: '' },
    ]),
  )
  deepEqual([await deleteJoinToken(client, first, called), await deleteJoinToken(client, first, called)], [true, false])
  deepEqual(
    (await listJoinTokens(client, called)).map(({ id }) => id),
    [second],
  )
  const [subject] =
    (await client.of(roleBinding).get('kubeadm:bootstrap-signer-clusterinfo', 'kube-public')).subjects ?? []
  equal(subject?.name, 'system:anonymous')
})
