// Priority and fairness through the real port: a user beyond the limit of its level gets 429 with Retry-After.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { parseKubeconfig } from '../../src/pki/kubeconfig.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { startUp } from '../process.ts'
import { flooded } from './flood.ts'

const group = 'flowcontrol.apiserver.k8s.io/v1'
const level = {
  apiVersion: group,
  kind: 'PriorityLevelConfiguration',
  metadata: { name: 'nothing' },
  spec: {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } },
  },
}
const schema = {
  apiVersion: group,
  kind: 'FlowSchema',
  metadata: { name: 'noisy' },
  spec: {
    matchingPrecedence: 10,
    priorityLevelConfiguration: { name: 'nothing' },
    rules: [
      {
        subjects: [{ kind: 'User', user: { name: 'noisy' } }],
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
      },
    ],
  },
}

const right = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'noisy' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'noisy' }],
}

test('a level without seats serves one request at a time; others get Retry-After', async () => {
  await using up = await startUp('--runtime', 'none')
  const { server, authority, identity } = parseKubeconfig(await readFile(up.kubeconfig, 'utf8'))
  const outbound = nodePlatform.outbound.connect({ origin: server, tls: { authority, ...identity } })
  const { signal } = new AbortController()
  const create = async (target: string, body: object, headers: Record<string, string> = {}) => {
    const all = { 'content-type': 'application/json', ...headers }
    const answer = await outbound.send({ method: 'POST', target, headers: all, body: JSON.stringify(body) }, signal)
    const text = new TextDecoder().decode(Buffer.concat(await Array.fromAsync(answer.body)))
    return { ...answer, body: JSON.parse(text) as { reason?: string; code?: number } }
  }
  equal((await create(`/apis/${group}/prioritylevelconfigurations`, level)).status, 201)
  equal((await create(`/apis/${group}/flowschemas`, schema)).status, 201)
  equal((await create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', right)).status, 201)
  const makeOne = (name: string, headers?: Record<string, string>) =>
    create('/api/v1/namespaces/default/configmaps', { metadata: { name } }, headers)
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => makeOne(`noisy-${index}`, { 'impersonate-user': 'noisy' })),
  )
  deepEqual([...new Set(answers.map(({ status }) => status))].toSorted(), [201, 429])
  for (const { headers, body } of answers.filter(({ status }) => status === 429)) {
    equal(headers['retry-after'], '1')
    deepEqual([body.reason, body.code], ['TooManyRequests', 429])
    match(headers['x-kubernetes-pf-flowschema-uid'] ?? '', /^[\da-f-]{36}$/)
    match(headers['x-kubernetes-pf-prioritylevel-uid'] ?? '', /^[\da-f-]{36}$/)
  }
  equal((await makeOne('calm')).status, 201, 'others are served')
  await outbound.close()
})

test('with 500 concurrent requests of one user, another user can read and a node can renew its lease', async (t) => {
  await using up = await startUp('--runtime', 'none')
  await using server = await flooded(await readFile(up.kubeconfig, 'utf8'))
  const flood = server.flood(500)
  const answers: number[] = []
  for (let round = 0; round < 20; round++) answers.push((await server.read()).status, (await server.renew()).status)
  const statuses = await flood.stop()
  deepEqual([...new Set(answers)], [200], 'no other request is rejected')
  const codes = [...statuses.keys()].filter((code) => code !== 429)
  deepEqual(codes, [201])
  ok((statuses.get(201) ?? 0) > 0, 'the flood is served as well')
  await t.test('a flood of events in one namespace', async () => {
    const events = server.flood(200, 'events')
    const others: number[] = []
    for (let round = 0; round < 20; round++)
      others.push(
        (await server.record(`e-${round}`)).status,
        (await server.read()).status,
        (await server.renew()).status,
      )
    const floodStatuses = await events.stop()
    deepEqual([...new Set(others)].toSorted(), [200, 201], 'events of other namespaces are stored')
    deepEqual(
      [...floodStatuses.keys()].filter((code) => code !== 429),
      [201],
    )
  })
})
