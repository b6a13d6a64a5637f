import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../base/observability/context.ts'
import { node } from '../api/core/v1/node/node.ts'
import { pod } from '../api/core/v1/pod/pod.ts'
import { startCluster } from '../cluster/testing/start-cluster.ts'

const ctx = context(new AbortController().signal)

test('a new label of a node is used when pods that select it are admitted', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  const pods = cluster.client.of(pod)
  const nodes = cluster.client.of(node)
  const [worker] = (await nodes.list({}, ctx)).items
  const make = async (name: string, nodeSelector: Record<string, string>) => {
    const containers = [{ name: 'c', image: 'serve' }]
    await pods.create({ metadata: { name }, spec: { nodeSelector, containers } }, 'default', ctx)
    await cluster.clock.advance('3s')
    return (await pods.get(name, 'default', ctx)).status.phase
  }
  // From here on the kubelet has cached its node object.
  equal(await make('first', { 'kubernetes.io/os': 'linux' }), 'Running')
  await nodes.patch(worker?.metadata.name ?? '', '', { metadata: { labels: { disk: 'ssd' } } }, 'merge', ctx)
  equal(await make('second', { disk: 'ssd' }), 'Running')
})
