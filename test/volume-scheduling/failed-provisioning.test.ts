// A pod whose volume cannot be created on the selected node is scheduled again at once: a provisioner removes the node
// from the claim, and the scheduler does not wait any longer.
import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { context, event, persistentVolumeClaim, pod, startCluster, storageClass } from '../../src/cluster/index.ts'

const ctx = context(new AbortController().signal)
const selectedNode = 'volume.kubernetes.io/selected-node'

test('a pod is scheduled again when its volume cannot be provisioned for the node', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  const { client, clock } = cluster
  const claims = client.of(persistentVolumeClaim)
  const late = { provisioner: 'example.com/none', volumeBindingMode: 'WaitForFirstConsumer' } as const
  await client.of(storageClass).create({ metadata: { name: 'late' }, ...late }, ctx)
  const resources = { requests: { storage: '1Gi' } }
  const spec = { accessModes: ['ReadWriteOnce' as const], resources, storageClassName: 'late' }
  await claims.create({ metadata: { name: 'data' }, spec }, ctx)
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }]
  const containers = [{ name: 'c', image: 'i' }]
  await client.of(pod).create({ metadata: { name: 'web' }, spec: { containers, volumes } }, ctx)
  await clock.advance('1s')
  const selected = async () => (await claims.get('data', ctx)).metadata.annotations?.[selectedNode]
  match((await selected()) ?? '', /^node-/)
  await claims.patch('data', 'default', { metadata: { annotations: { [selectedNode]: null } } }, 'merge', ctx)
  await clock.advance(0)
  equal(await selected(), undefined)
  const { items } = await client.of(event).list({ namespace: 'default' }, ctx)
  const messages = items.filter(({ involvedObject }) => involvedObject.name === 'web').map(({ message }) => message)
  match(messages.join('\n'), /provisioning failed for PVC "data"/)
  await clock.advance('30s')
  match((await selected()) ?? '', /^node-/, 'the pod was scheduled again, long before the limit of ten minutes')
})
