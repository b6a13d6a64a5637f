// Requests without a body, methods that a subresource does not have, and connections that are not made.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { configMap } from '../../api/core/v1/config-map.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { startServer } from '../server.harness.ts'

const merge = { 'content-type': 'application/merge-patch+json' }

const rows: readonly (readonly [method: string, path: string, headers: Record<string, string>, status: number])[] = [
  ['PATCH', '/api/v1/namespaces/default/configmaps/a', merge, 400],
  ['GET', '/api/v1/namespaces/default/pods/a/binding', {}, 405],
  ['GET', '/api/v1/namespaces/default/pods/a/eviction', {}, 405],
  ['DELETE', '/api/v1/namespaces/default/pods/a/status', {}, 405],
  ['POST', '/apis/apps/v1/namespaces/default/deployments/a/scale', {}, 405],
  ['GET', '/api/v1/namespaces/default/serviceaccounts/a/token', {}, 405],
  ['GET', '/api/v1/namespaces/default/finalize', {}, 405],
  ['POST', '/api/v1/namespaces/default/pods/a/exec?command=x&dryRun=All', {}, 400],
]
for (const [method, path, headers, status] of rows)
  test(`${method} ${path} without a body`, async () => {
    await using server = await startServer()
    await server.call('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } })
    const answer = await server.call(method, path, undefined, headers)
    equal(answer.status, status, JSON.stringify(answer.body))
  })

const deployments = '/apis/apps/v1/namespaces/default/deployments'
const labels = { app: 'a' }
const deployment = {
  metadata: { name: 'a' },
  spec: {
    replicas: 0,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
}

test('the scale of a new object as a Table', async () => {
  await using server = await startServer()
  await server.call('POST', deployments, deployment)
  const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
  const { body } = await server.call('GET', `${deployments}/a/scale`, undefined, table)
  deepEqual(body.rows[0].cells.slice(0, 3), ['a', 0, 0])
})

test('the apply of a scale names the uid and version of the object', async () => {
  await using server = await startServer()
  const { metadata } = (await server.call('POST', deployments, deployment)).body
  const scale = (uid: string) => ({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'a', uid, resourceVersion: metadata.resourceVersion },
    spec: { replicas: 2 },
  })
  const apply = { 'content-type': 'application/apply-patch+yaml' }
  const target = `${deployments}/a/scale?fieldManager=m&force=true`
  equal((await server.call('PATCH', target, scale('another'), apply)).status, 409)
  const applied = await server.call('PATCH', target, scale(metadata.uid), apply)
  deepEqual([applied.status, applied.body.spec], [200, { replicas: 2 }])
})

test('a custom kind that is not served any more is not found', async () => {
  await using server = await startServer()
  const removed = { ...configMap, plural: 'widgets', custom: {} } as unknown as Kind
  throws(() => server.server.registry.lister.get(removed, 'default', 'a'), { code: 404 })
})
