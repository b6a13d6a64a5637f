import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../base/observability/context.ts'
import { node } from '../api/core/v1/node/node.ts'
import { pod } from '../api/core/v1/pod/pod.ts'
import { startCluster } from '../cluster/testing/start-cluster.ts'

const ctx = context(new AbortController().signal)
const gpu = 'example.com/gpu'

test('pods use an extended resource soon after it was added to the capacity of a node', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  const pods = cluster.client.of(pod)
  const nodes = cluster.client.of(node)
  const resources = { requests: { [gpu]: '1' }, limits: { [gpu]: '1' } }
  const containers = [{ name: 'c', image: 'serve', resources }]
  await pods.create({ metadata: { name: 'a' }, spec: { containers } }, 'default', ctx)
  const phase = async () => (await pods.get('a', 'default', ctx)).status.phase
  await cluster.clock.advance('15s')
  equal(await phase(), 'Pending')
  const [worker] = (await nodes.list({}, ctx)).items
  const { name = '' } = worker?.metadata ?? {}
  await nodes.patch(name, '', { status: { capacity: { [gpu]: '2' } } }, 'merge', ctx, 'status')
  await cluster.clock.advance('15s')
  const { capacity, allocatable } = (await nodes.get(name, '', ctx)).status
  deepEqual([capacity?.[gpu], allocatable?.[gpu]], ['2', '2'])
  equal(await phase(), 'Running')
  // It is removed again, as the client that added it requests.
  await nodes.patch(name, '', { status: { capacity: { [gpu]: null } } }, 'merge', ctx, 'status')
  await cluster.clock.advance('15s')
  equal((await nodes.get(name, '', ctx)).status.allocatable?.[gpu], undefined)
})
