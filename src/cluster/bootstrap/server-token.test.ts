import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { seededRandom } from '../../base/random/random.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { role } from '../../api/rbac/v1/role.ts'
import { roleBinding } from '../../api/rbac/v1/role-binding.ts'
import { startCluster } from '../testing/start-cluster.ts'
import { listJoinTokens } from './join-token.ts'
import { openBundle, type ServerBundle } from './server-bundle.ts'
import { createServerToken, readSealedBundle } from './server-token.ts'

const ctx = context(new AbortController().signal)
const bundle: ServerBundle = {
  files: { 'ca.key': 'secret key' },
  settings: {},
  store: { kind: 'managed', endpoints: ['https://192.0.2.1:2379'] },
}

test('a token for servers gives its user access to one Secret, which is deleted with it', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const deps = { client, clock, random: seededRandom(1) }
  const token = await createServerToken(deps, { validMs: 60_000 }, bundle, ctx)
  match(token, /^[a-z0-9]{6}\.[a-z0-9]{16}\.[0-9a-f]{64}$/)
  const [id = '', , key = ''] = token.split('.')
  const sealed = await readSealedBundle(client, id, ctx)
  deepEqual(openBundle(sealed, id, Uint8Array.fromHex(key)), bundle)
  // The objects of the cluster do not contain the key.
  const secrets = await client.of(secret).list({ namespace: 'kube-system' })
  const contents = secrets.items.flatMap(({ data = {} }) =>
    Object.values(data).map((text) => Buffer.from(text, 'base64')),
  )
  equal(
    contents.some((content) => content.includes(key) || content.includes(Buffer.from(key, 'hex'))),
    false,
  )
  const name = `coxswain-server-${id}`
  const { rules } = await client.of(role).get(name, 'kube-system')
  deepEqual(rules, [{ apiGroups: [''], resources: ['secrets'], resourceNames: [name], verbs: ['get'] }])
  const { subjects } = await client.of(roleBinding).get(name, 'kube-system')
  deepEqual(subjects, [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: `system:bootstrap:${id}` }])
  await clock.advance('2m')
  deepEqual(await listJoinTokens(client, ctx), [])
  await clock.advance('2m')
  for (const kind of [secret, role, roleBinding] as const)
    equal(await client.of(kind as typeof secret).find(name, 'kube-system', ctx), undefined)
  await rejects(readSealedBundle(client, id, ctx), /not found/)
})
