// The pod garbage collector in a cluster, and the order in which finished pods are deleted.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../base/observability/context.ts'
import { node } from '../api/core/v1/node/node.ts'
import { pod } from '../api/core/v1/pod/pod.ts'
import { startCluster } from '../cluster/testing/start-cluster.ts'
import { aPod } from './runtime/plan.harness.ts'
import { surplus } from './pod-garbage-collector.ts'

const ctx = context(new AbortController().signal)
const spec = { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 600 }

test('of too many finished pods evicted ones are deleted first, then the oldest', () => {
  const at = (minute: number) => ({ phase: 'Failed', creationTimestamp: `2030-01-01T00:0${minute}:00Z` })
  const pods = [aPod('new', at(3)), aPod('old', at(1)), aPod('evicted', { ...at(4), status: { reason: 'Evicted' } })]
  const names = (max: number) => surplus(pods, max).map(({ metadata }) => metadata.name)
  deepEqual([names(3), names(1), names(0)], [[], ['evicted', 'old'], ['evicted', 'old', 'new']])
})

test('pods of a deleted node are deleted after the quarantine, with a condition', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  const { client, clock } = cluster
  await client.of(pod).create({ metadata: { name: 'p', finalizers: ['test/hold'] }, spec }, 'default', ctx)
  await clock.advance('5s')
  await cluster.kill('kubelet/node-0')
  await client.of(node).delete('node-0', '', {}, ctx)
  await clock.advance('35s')
  const read = () => client.of(pod).get('p', 'default', ctx)
  equal((await read()).metadata.deletionTimestamp, undefined)
  await clock.advance('10s')
  const { metadata, status } = await read()
  equal(metadata.deletionGracePeriodSeconds, 0)
  equal(status.phase, 'Failed')
  deepEqual(
    status.conditions
      ?.filter(({ type }) => type === 'DisruptionTarget')
      .map(({ reason, message }) => [reason, message]),
    [['DeletionByPodGC', 'PodGC: node no longer exists']],
  )
})

test('deleted pods on a node out of service are removed at once', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  const { client, clock } = cluster
  await client.of(pod).create({ metadata: { name: 'p' }, spec: { ...spec, nodeName: 'node-1' } }, 'default', ctx)
  await clock.advance('5s')
  await cluster.kill('kubelet/node-1')
  await clock.advance('1m')
  await client.of(pod).delete('p', 'default', {}, ctx)
  await clock.advance('1m')
  equal((await client.of(pod).get('p', 'default', ctx)).metadata.deletionTimestamp !== undefined, true)
  const { spec: known } = await client.of(node).get('node-1', '', ctx)
  const taints = [...(known.taints ?? []), { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }]
  await client.of(node).patch('node-1', '', { spec: { taints } }, 'merge', ctx)
  await clock.advance('5s')
  equal(await client.of(pod).find('p', 'default', ctx), undefined)
})
