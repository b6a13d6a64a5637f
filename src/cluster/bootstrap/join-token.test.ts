import { deepEqual, equal, match } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { seededRandom } from '../../base/random/random.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import { startCluster } from '../testing/start-cluster.ts'
import { createJoinToken, joinCommand, joinKubeconfig } from './join-token.ts'

const called = context(new AbortController().signal)

test('a token is a Secret that ends; the bindings are created once', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const deps = { client, clock, random: seededRandom(1) }
  const tokens = [await createJoinToken(deps, 3_600_000, called), await createJoinToken(deps, 3_600_000, called)]
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

test('the command writes the kubeconfig for its owner only, whatever the text contains', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-join-'))
  try {
    const kubeconfig = joinKubeconfig('https://192.0.2.1:6443', `authority '; touch harm; '`, 'abcdef.0123456789abcdef')
    const [written = '', start = ''] = joinCommand(kubeconfig).split(' && ')
    execFileSync('sh', ['-c', written], { cwd: folder })
    equal(readFileSync(join(folder, 'join.kubeconfig'), 'utf8'), kubeconfig)
    equal(statSync(join(folder, 'join.kubeconfig')).mode & 0o777, 0o600)
    equal(start, 'coxswain kubelet --bootstrap-kubeconfig join.kubeconfig --data-dir /var/lib/coxswain-kubelet')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
