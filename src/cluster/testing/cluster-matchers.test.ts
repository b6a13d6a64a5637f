import { equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { configMap } from '../../api/core/v1/config-map.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { clusterMatchers, type MatcherResult } from './cluster-matchers.ts'
import { startCluster } from './start-cluster.ts'

const expected = { isNot: false }
const excluded = { isNot: true }
const { toHaveCondition, toHaveEvent } = clusterMatchers

const input = (name: string, image: object = {}) => ({
  metadata: { name },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'nginx', ...image }] } },
  },
})

function fails({ pass, message }: MatcherResult, pattern: RegExp): void {
  equal(pass, false)
  match(message(), pattern)
}

test('conditions and events are awaited in the time of the cluster', async () => {
  await using cluster = await startCluster()
  await cluster.client.of(deployment).create(input('web'))
  equal((await toHaveCondition.call(expected, cluster, deployment, 'web', 'Available')).pass, true)
  equal((await toHaveEvent.call(expected, cluster, deployment, 'web', 'ScalingReplicaSet')).pass, true)
  equal((await toHaveCondition.call(expected, cluster, node, 'node-0', 'DiskPressure=False')).pass, true)
})

test('an object that does not come to it is explained', async () => {
  await using cluster = await startCluster()
  await cluster.client.of(deployment).create(input('big', { resources: { requests: { cpu: '64' } } }))
  const options = { within: '5s' }
  fails(
    await toHaveCondition.call(expected, cluster, deployment, 'big', 'Available', options),
    /^expected deployment\/big to have the condition Available=True within 5s of the cluster's time\nits conditions: Available=False \(MinimumReplicasUnavailable\)[^]*It cannot be scheduled/,
  )
  fails(
    await toHaveEvent.call(expected, cluster, deployment, 'big', 'Done', options),
    /^expected deployment\/big to have an event Done within 5s [^]*\nits events: ScalingReplicaSet\n/,
  )
  fails(await toHaveCondition.call(expected, cluster, pod, 'none', 'Ready', options), /time\nit does not exist$/)
})

test('with not, no time passes', async () => {
  await using cluster = await startCluster()
  await cluster.client.of(configMap).create({ metadata: { name: 'a' } })
  const beforeMs = cluster.clock.nowMs()
  fails(await toHaveCondition.call(excluded, cluster, configMap, 'a', 'Ready'), /^expected configmap\/a not to have/)
  fails(await toHaveEvent.call(excluded, cluster, configMap, 'a', 'Ready'), /\nit has no events\n/)
  equal(cluster.clock.nowMs(), beforeMs)
  const { pass, message } = await toHaveCondition.call(excluded, cluster, node, 'node-0', 'Ready')
  equal(pass, true)
  match(message(), /^expected node\/node-0 not to have the condition Ready=True\nits conditions: .*Ready=True/)
})

test('errors other than a missing object are thrown, and other values are rejected', async () => {
  await using cluster = await startCluster()
  cluster.faults.reject({ verb: 'get', kind: pod })
  await rejects(toHaveCondition.call(expected, cluster, pod, 'web', 'Ready'), /\S/)
  await rejects(
    toHaveEvent.call(expected, { client: {} }, pod, 'web', 'Ready'),
    /^TypeError: expect\(…\) must get a cluster/,
  )
})
