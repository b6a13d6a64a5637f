// Documents that components read by their path, through function calls.
import { equal, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { startCluster } from '../testing/start-cluster.ts'

test('a path can be that of an object, a list, a document or a Status', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client } = cluster
  await cluster.clock.advance('1s')
  const object = (await client.read('/api/v1/namespaces/default')) as { metadata: { name: string } }
  equal(object.metadata.name, 'default')
  const list = (await client.read('/api/v1/namespaces?limit=1')) as { items: readonly unknown[] }
  equal(list.items.length, 1)
  ok('gitVersion' in ((await client.read('/version')) as object))
  ok('paths' in ((await client.read('/openapi/v3')) as object))
  await rejects(client.read('/apis/missing.example.com/v1/things'), { code: 404 })
  await rejects(client.read('/healthz'), /a document answered with a text/)
})

test('without an API server, requests fail', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  await cluster.kill('apiserver')
  await rejects(cluster.client.read('/version'), { code: 503 })
})
