// Ten thousand mutations of valid bodies: never a 5xx, a crash or a hang. The unit test sends a part of them.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { attackWithMutations } from '../../src/apiserver/robustness/hostile-attack.harness.ts'
import { startServer } from '../../src/apiserver/server.harness.ts'

const deployments = '/apis/apps/v1/namespaces/default/deployments'

test('10,000 generated mutations', async () => {
  await using server = await startServer()
  const labels = { a: 'b' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const spec = { selector: { matchLabels: labels }, template }
  equal((await server.call('POST', deployments, { metadata: { name: 'web' }, spec })).status, 201)
  const failures: string[] = []
  await attackWithMutations(server, 10_000, failures)
  deepEqual(failures, [])
  equal((await server.call('GET', `${deployments}/web`)).status, 200)
})
