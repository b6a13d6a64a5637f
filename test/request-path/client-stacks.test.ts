// A soak of the request path: every client that we have, and bytes as no client sends them, all at once. Each request has exactly
// one complete response, and it is its own. 100,000 requests; with COXSWAIN_LONG=1, ten million.
import { deepEqual, ok } from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { accessOf } from '../access.ts'
import { kubectls, runKubectl, type Kubectl } from '../kubectl.ts'
import { startUp } from '../process.ts'
import { namespace, storedName, storedObjects } from './stacks/exchange.ts'
import { nodeClients } from './stacks/node-clients.ts'
import { programs } from './stacks/programs.ts'
import { rawBytes } from './stacks/raw-bytes.ts'
import type { Target } from './stacks/stack.ts'
import { execPod, upgrades } from './stacks/upgrades.ts'

const isLong = process.env['COXSWAIN_LONG'] === '1'
const requests = isLong ? 10_000_000 : 100_000
const minutesMax = isLong ? 240 : 5

const stacks = [...nodeClients, ...rawBytes, ...programs, ...upgrades]

const objects = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  ...Array.from({ length: storedObjects }, (_, index) => {
    const name = storedName(index)
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { name } }
  }),
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'load', namespace } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'load', namespace },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'load', namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'load' },
    subjects: [{ kind: 'ServiceAccount', name: 'load', namespace }],
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: execPod, namespace },
    spec: { containers: [{ name: 'main', image: 'none' }] },
  },
]

/** Requests of the stacks that the server has counted, by its metrics. */
const countedIn = (metrics: string): number =>
  [...metrics.matchAll(/^apiserver_request_total\{.*(?:resource="configmaps"|subresource="exec").*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  )

test('every request of every client has exactly one response, its own', { timeout: minutesMax * 60_000 }, async () => {
  await using up = await startUp()
  const { kubeconfig, folder } = up
  const kubectl = async (args: readonly string[], input = '') => {
    const { code, out, err } = await runKubectl(kubectls().at(-1) as Kubectl, kubeconfig, args, { input })
    deepEqual([code, err], [0, ''])
    return out
  }
  await kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
  await kubectl(['wait', '-n', namespace, '--for=condition=Ready', `pod/${execPod}`])
  const token = (await kubectl(['create', 'token', '-n', namespace, 'load', '--duration=24h'])).trim()
  const access = accessOf(kubeconfig)
  for (const name of ['ca', 'cert', 'key'] as const)
    await writeFile(join(folder, `${name}.pem`), access[name], { mode: 0o600 })
  const target: Target = { access, kubeconfig, folder, token }
  const counted = async () => countedIn(await kubectl(['get', '--raw', '/metrics']))
  const before = await counted()
  // All of them run to their end, so that the failure of one is not taken for that of others.
  const results = await Promise.allSettled(stacks.map(({ part, run }) => run(target, Math.ceil(part * requests))))
  deepEqual(
    results.flatMap((result, at) =>
      result.status === 'rejected' ? [`${stacks[at]?.name}: ${String(result.reason)}`] : [],
    ),
    [],
  )
  const sent = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const answered = sent.reduce((sum, each) => sum + each.answered, 0)
  const left = sent.reduce((sum, each) => sum + each.left, 0)
  ok(answered >= requests, `${answered} requests`)
  // None has been handled twice.
  const handled = (await counted()) - before
  ok(handled >= answered && handled <= answered + left, `${handled} handled, ${answered} answered, ${left} left`)
})
