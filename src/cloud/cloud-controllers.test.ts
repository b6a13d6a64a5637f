// The cloud controllers in a cluster with a simulated cloud: load balancers, nodes and routes, and what happens when the
// cloud fails.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { event, node, service, startCluster, type TestCluster } from '../cluster/index.ts'

const finalizer = 'service.kubernetes.io/load-balancer-cleanup'
const spec = { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }] } as const
const web = { metadata: { name: 'web' }, spec }

const ingressOf = async ({ client }: TestCluster, name = 'web') =>
  (await client.of(service).get(name)).status.loadBalancer.ingress ?? []

/** Reasons and messages of the events about an object, in order. */
async function eventsOf({ client }: TestCluster, name: string, component: string): Promise<string[]> {
  const { items } = await client.of(event).list()
  return items
    .filter(({ involvedObject, source }) => involvedObject.name === name && source?.component === component)
    .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
    .map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
}

test('a Service gets the address of its load balancer, and is kept until that is deleted', async () => {
  await using cluster = await startCluster({ nodes: 2, cloud: { loadBalancerMs: 30_000 } })
  const { client, cloud } = cluster
  await client.of(service).create(web)
  await cluster.clock.advance('20s')
  deepEqual(await ingressOf(cluster), [])
  deepEqual((await client.of(service).get('web')).metadata.finalizers, [finalizer])
  const ingress = await cluster.until(async () => {
    const found = await ingressOf(cluster)
    return found.length > 0 && found
  })
  deepEqual(ingress, [{ ip: '203.0.113.1', ipMode: 'VIP' }])
  deepEqual(cloud.loadBalancers(), [
    { service: 'default/web', address: '203.0.113.1', nodes: ['node-0', 'node-1'], ports: [80] },
  ])
  cloud.inject({ operation: 'DeleteLoadBalancer', action: { kind: 'fail', message: 'in use' }, times: 1 })
  await client.of(service).delete('web')
  await cluster.clock.advance('1s')
  ok((await client.of(service).get('web')).metadata.deletionTimestamp)
  equal(cloud.loadBalancers().length, 1)
  await cluster.until(async () => (await client.of(service).find('web')) === undefined)
  deepEqual(cloud.loadBalancers(), [])
  deepEqual(await eventsOf(cluster, 'web', 'service-controller'), [
    'Normal EnsuringLoadBalancer: Ensuring load balancer',
    'Normal EnsuredLoadBalancer: Ensured load balancer',
    'Warning SyncLoadBalancerFailed: Error syncing load balancer: failed to delete load balancer: in use',
    'Normal DeletingLoadBalancer: Deleting load balancer',
    'Normal DeletedLoadBalancer: Deleted load balancer',
  ])
})

test('a cloud that fails is called again after five seconds, then ten, and the events say why', async () => {
  await using cluster = await startCluster({ nodes: 1, cloud: {} })
  const { client, cloud, clock } = cluster
  await clock.advance('5s')
  cloud.inject({ operation: 'EnsureLoadBalancer', action: { kind: 'fail', message: 'quota exceeded' }, times: 2 })
  // The third attempt is performed, and its answer is lost.
  cloud.inject({ operation: 'EnsureLoadBalancer', action: { kind: 'lose', message: 'connection reset' }, times: 1 })
  await client.of(service).create(web)
  const attempts = () => cloud.calls().filter((call) => call.startsWith('Ensure')).length
  for (const [seconds, expected] of [
    [1, 1],
    [3, 1],
    [2, 2],
    [8, 2],
    [2, 3],
    [18, 3],
    [3, 4],
  ] as const) {
    await clock.advance(seconds * 1_000)
    equal(attempts(), expected)
  }
  deepEqual(await ingressOf(cluster), [{ ip: '203.0.113.1', ipMode: 'VIP' }])
  equal(cloud.loadBalancers().length, 1)
  const events = await eventsOf(cluster, 'web', 'service-controller')
  match(
    events.join('\n'),
    /Warning SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: quota exceeded/,
  )
  match(events.join('\n'), /failed to ensure load balancer: connection reset/)
})

test('a call that is not answered ends after five minutes and is repeated', async () => {
  await using cluster = await startCluster({ nodes: 1, cloud: {} })
  cluster.cloud.inject({ operation: 'EnsureLoadBalancer', action: { kind: 'hang' }, times: 1 })
  await cluster.client.of(service).create(web)
  await cluster.clock.advance('6m')
  equal((await ingressOf(cluster)).length, 1)
  match((await eventsOf(cluster, 'web', 'service-controller')).join('\n'), /the cloud did not answer within 300s/)
})

test('load balancers follow the nodes: excluded, removed and new ones', async () => {
  await using cluster = await startCluster({ nodes: 2, cloud: {} })
  const { client, cloud, clock } = cluster
  await client.of(service).create(web)
  await clock.advance('5s')
  const nodes = () => cloud.loadBalancers()[0]?.nodes
  deepEqual(nodes(), ['node-0', 'node-1'])
  const label = 'node.kubernetes.io/exclude-from-external-load-balancers'
  await client.of(node).patch('node-0', { metadata: { labels: { [label]: '' } } })
  await clock.advance('1s')
  deepEqual(nodes(), ['node-1'])
  cloud.inject({ operation: 'UpdateLoadBalancer', action: { kind: 'fail', message: 'busy' }, times: 1 })
  await client.of(node).patch('node-0', { metadata: { labels: { [label]: null } } })
  await clock.advance('10s')
  deepEqual(nodes(), ['node-0', 'node-1'])
  for (const name of ['node-0', 'node-1'])
    await client.of(node).patch(name, { metadata: { labels: { [label]: 'true' } } })
  await clock.advance('1s')
  deepEqual(nodes(), [])
  const events = (await eventsOf(cluster, 'web', 'service-controller')).join('\n')
  match(events, /Normal UpdatedLoadBalancer: Updated load balancer with new hosts/)
  match(events, /Warning UpdateLoadBalancerFailed: Error updating load balancer with new hosts \[node-0 node-1\]: busy/)
  match(events, /Warning UnAvailableLoadBalancer: There are no available nodes for LoadBalancer/)
  // A load balancer that was removed in the cloud is not an error for an update.
  cloud.removeLoadBalancer('default/web')
  const count = cloud.calls().length
  await client.of(node).patch('node-0', { metadata: { labels: { [label]: null } } })
  await clock.advance('20s')
  deepEqual(
    cloud
      .calls()
      .slice(count)
      .filter((call) => call.includes('LoadBalancer')),
    ['UpdateLoadBalancer default/web', 'FindLoadBalancer default/web'],
  )
})

test('a Service with a class is left alone; one that changes its type loses its load balancer', async () => {
  await using cluster = await startCluster({ nodes: 1, cloud: {} })
  const { client, cloud, clock } = cluster
  const loadBalancerClass = 'example.com/other'
  await client.of(service).create({ metadata: { name: 'other' }, spec: { ...spec, loadBalancerClass } })
  await client.of(service).create(web)
  await clock.advance('2s')
  deepEqual(
    cloud.loadBalancers().map((each) => each.service),
    ['default/web'],
  )
  equal((await client.of(service).get('other')).metadata.finalizers, undefined)
  await client.of(service).patch('web', { spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } })
  await clock.advance('1s')
  await client.of(service).patch('web', { spec: { type: 'ClusterIP', loadBalancerSourceRanges: null } })
  await clock.advance('2s')
  deepEqual(cloud.loadBalancers(), [])
  const kept = await client.of(service).get('web')
  deepEqual([kept.metadata.finalizers, kept.status.loadBalancer], [undefined, {}])
  const events = (await eventsOf(cluster, 'web', 'service-controller')).join('\n')
  match(events, /Normal LoadBalancerSourceRanges: \[\] -> \[10\.0\.0\.0\/8\]/)
  match(events, /Normal Type: LoadBalancer -> ClusterIP/)
})

test('a node waits for its cloud: it is tainted and has no address before it is initialized', async () => {
  const failure = { operation: 'FindInstance', action: { kind: 'fail', message: 'unavailable' } } as const
  await using cluster = await startCluster({ nodes: 1, cloud: { faults: [failure] } })
  const { client, cloud, clock } = cluster
  await clock.advance('1m')
  const waiting = await client.of(node).get('node-0')
  deepEqual(waiting.spec.taints, [
    { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' },
  ])
  deepEqual(waiting.status.addresses, [{ type: 'Hostname', address: 'node-0' }])
  equal(waiting.spec.providerID, undefined)
  cloud.heal()
  const ready = await cluster.until(async () => {
    const found = await client.of(node).get('node-0')
    return found.spec.taints === undefined && found
  }, '2m')
  equal(ready.spec.providerID, 'simulated://zone-a/node-0')
})

test('nodes get provider id, addresses and labels from the cloud, and follow changes of the addresses', async () => {
  await using cluster = await startCluster({ nodes: 2, cloud: { zones: ['zone-a', 'zone-b'] } })
  const { client, cloud, clock } = cluster
  await clock.advance('10s')
  const second = await client.of(node).get('node-1')
  equal(second.spec.providerID, 'simulated://zone-b/node-1')
  deepEqual(second.spec.taints ?? [], [])
  deepEqual(second.status.addresses, [
    { type: 'InternalIP', address: '192.0.2.2' },
    { type: 'Hostname', address: 'node-1' },
  ])
  const { labels = {} } = second.metadata
  deepEqual(
    ['node.kubernetes.io/instance-type', 'topology.kubernetes.io/zone', 'topology.kubernetes.io/region'].map(
      (name) => labels[name],
    ),
    ['standard-8', 'zone-b', 'region-1'],
  )
  deepEqual(await eventsOf(cluster, 'node-1', 'cloud-node-controller'), ['Normal Synced: Node synced successfully'])
  const addresses = [
    { type: 'InternalIP', address: '192.0.2.2' },
    { type: 'ExternalIP', address: '198.51.100.2' },
  ]
  cloud.changeInstance('node-1', { addresses })
  await clock.advance('6m')
  deepEqual((await client.of(node).get('node-1')).status.addresses, [
    ...addresses,
    { type: 'Hostname', address: 'node-1' },
  ])
  await client.of(node).patch('node-1', { metadata: { labels: { 'failure-domain.beta.kubernetes.io/zone': 'wrong' } } })
  await clock.advance('1s')
  equal((await client.of(node).get('node-1')).metadata.labels?.['failure-domain.beta.kubernetes.io/zone'], 'zone-b')
})

test('a stopped instance is tainted, a started one is used again, and the node of a removed one is deleted', async () => {
  await using cluster = await startCluster({ nodes: 2, cloud: {} })
  const { client, cloud, clock } = cluster
  await clock.advance('10s')
  const taints = async () => ((await client.of(node).get('node-1')).spec.taints ?? []).map(({ key }) => key)
  const shutdown = 'node.cloudprovider.kubernetes.io/shutdown'
  await cloud.stopInstance('node-1')
  await clock.advance('40s')
  ok(!(await taints()).includes(shutdown))
  await clock.advance('20s')
  ok((await taints()).includes(shutdown))
  cloud.startInstance('node-1')
  await clock.advance('20s')
  deepEqual(await taints(), [])
  await cloud.removeInstance('node-1')
  cloud.inject({ operation: 'FindInstance', action: { kind: 'fail', message: 'unavailable' } })
  await clock.advance('2m')
  ok(await client.of(node).find('node-1'), 'a cloud that fails deletes no node')
  cloud.heal()
  await cluster.until(async () => (await client.of(node).find('node-1')) === undefined)
  deepEqual(await eventsOf(cluster, 'node-1', 'cloud-node-lifecycle-controller'), [
    'Normal DeletingNode: Deleting node node-1 because it does not exist in the cloud provider',
  ])
})

test('routes lead to the pod range of every node; a node without one is unavailable until it has it', async () => {
  const failure = { operation: 'CreateRoute', action: { kind: 'fail', message: 'limit reached' } } as const
  await using cluster = await startCluster({ nodes: 2, cloud: { faults: [failure] } })
  const { client, cloud, clock } = cluster
  const condition = async (name: string) => {
    const { status } = await client.of(node).get(name)
    const found = (status.conditions ?? []).find(({ type }) => type === 'NetworkUnavailable')
    return found && `${found.status} ${found.reason}: ${found.message}`
  }
  await clock.advance('2s')
  equal(await condition('node-0'), 'True NoRouteCreated: RouteController failed to create a route')
  cloud.heal()
  await clock.advance('20s')
  for (const name of ['node-0', 'node-1'])
    equal(await condition(name), 'False RouteCreated: RouteController created a route')
  const destinations = () =>
    cloud
      .routes()
      .map(({ nodeName, destinationCidr }) => `${nodeName} ${destinationCidr}`)
      .toSorted()
  deepEqual(destinations(), ['node-0 10.244.0.0/24', 'node-1 10.244.1.0/24'])
  match(
    (await eventsOf(cluster, 'node-0', 'route_controller')).join('\n'),
    /Warning FailedToCreateRoute: Could not create route \S+ 10\.244\.0\.0\/24 for node node-0 after 0s: limit reached/,
  )
  // The kubelet's status updates keep the condition.
  await clock.advance('6m')
  equal(await condition('node-0'), 'False RouteCreated: RouteController created a route')
  await cloud.removeInstance('node-1')
  await cluster.until(async () => (await client.of(node).find('node-1')) === undefined, '2m')
  await clock.advance('11s')
  deepEqual(destinations(), ['node-0 10.244.0.0/24'])
})
