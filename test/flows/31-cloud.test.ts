// Flow 31: a node is initialized by its cloud, and a Service gets the address of a load balancer that takes half a minute;
// then the cloud fails.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import {
  deployment,
  event,
  node,
  service,
  startCluster,
  type SimulatedProgram,
  type TestCluster,
} from '../../src/cluster/index.ts'
import { comparePage, excerpt, inOrder } from './page.ts'

const unfolded = { fold: false }
const labels = { app: 'web' }
const template = {
  metadata: { labels },
  spec: { containers: [{ name: 'web', image: 'web', ports: [{ containerPort: 8080 }] }] },
}
const loadBalancer = { type: 'LoadBalancer', selector: labels, ports: [{ port: 80, targetPort: 8080 }] } as const
const web: SimulatedProgram = ({ serveHttp, terminated }) => {
  serveHttp(8080, () => ({ status: 200, body: 'hello' }))
  return new Promise((resolve) => terminated.addEventListener('abort', () => resolve(0)))
}

const addressOf = async ({ client }: TestCluster) =>
  (await client.of(service).get('web')).status.loadBalancer.ingress?.[0]?.ip

async function warningsOf({ client }: TestCluster, name: string): Promise<string[]> {
  const { items } = await client.of(event).list()
  const found = items.filter(({ involvedObject, type }) => involvedObject.name === name && type === 'Warning')
  return found.map(({ reason, message }) => `${reason}: ${message}`)
}

test('31 cloud', async () => {
  await using cluster = await startCluster({
    nodes: 2,
    cloud: { loadBalancerMs: 30_000 },
    simulation: { images: { web } },
  })
  const { client, cloud } = cluster
  await client
    .of(deployment)
    .create({ metadata: { name: 'web' }, spec: { replicas: 2, selector: { matchLabels: labels }, template } })
  await client.of(service).create({ metadata: { name: 'web' }, spec: loadBalancer })
  const address = await cluster.until(() => addressOf(cluster))
  equal(address, '203.0.113.1')
  deepEqual(cloud.loadBalancers()[0]?.nodes, ['node-0', 'node-1'])
  const response = await cluster.network.fetch(`http://${address}/`, { from: 'outside' })
  equal(await response.text(), 'hello')
  const initialized = cluster.flow(node, 'node-0', '', unfolded)
  inOrder(
    initialized,
    /kubelet\/node-0 ──► API Server: create nodes node-0/,
    /controller\/cloud-node ──► cloud\/simulated: find the instance of node-0/,
    /controller\/cloud-node ──► API Server: update nodes node-0/,
    /controller\/cloud-node ──► API Server: patch nodes\/status node-0/,
  )
  match(initialized, /controller\/route ──► cloud\/simulated: create a route for 10\.244\.0\.0\/24 to node-0/)
  await client.of(service).delete('web')
  await cluster.until(async () => (await client.of(service).find('web')) === undefined)
  const balanced = cluster.flow(service, 'web', 'default', unfolded)
  inOrder(
    balanced,
    /test ──► API Server: create services web/,
    /controller\/service ──► API Server: patch services\/status web/,
    /controller\/service ──► cloud\/simulated: ensure the load balancer of web/,
    /controller\/service ──► API Server: patch services\/status web/,
    /test ──► API Server: delete services web/,
    /controller\/service ──► cloud\/simulated: delete the load balancer of web/,
  )

  const unavailable = { kind: 'fail', message: 'the cloud is unavailable' } as const
  const faults = [
    { operation: 'FindInstance', action: unavailable, times: 3 },
    { operation: 'EnsureLoadBalancer', action: unavailable, times: 2 },
  ] as const
  await using failing = await startCluster({ nodes: 1, cloud: { faults } })
  await failing.clock.advance('1s')
  await failing.client.of(service).create({ metadata: { name: 'web' }, spec: loadBalancer })
  equal(await failing.until(() => addressOf(failing)), '203.0.113.1')
  deepEqual((await warningsOf(failing, 'web')).toSorted(), [
    'SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: the cloud is unavailable',
  ])
  equal(failing.cloud.loadBalancers().length, 1)
  const late = failing.flow(node, 'node-0', '', unfolded)
  const retried = failing.flow(service, 'web', 'default', unfolded)
  equal(late.match(/find the instance of node-0 → the cloud is unavailable/g)?.length, 3)
  equal(retried.match(/ensure the load balancer of web → the cloud is unavailable/g)?.length, 2)

  const cloudSteps = /cloud\/simulated/
  await comparePage('31-cloud', 'Cloud integration', [
    {
      heading: 'A node is initialized',
      text: 'The kubelet registers its node with the taint `node.cloudprovider.kubernetes.io/uninitialized` and without addresses. The controller of cloud nodes asks the cloud for the instance, sets the provider id and labels, removes the taint and sets the addresses. The route controller creates a route to the pods of the node.',
      diagram: excerpt(initialized, /instance of node-0|to node-0/, /controller\/(cloud-node|route) ──► API Server/),
    },
    {
      heading: 'A Service gets a load balancer',
      text: 'The service controller sets a finalizer before it calls the cloud, which takes half a minute here. The address is in the status. When the Service is deleted, the finalizer is removed after the load balancer was deleted.',
      diagram: excerpt(balanced, cloudSteps, /controller\/service ──► API Server: patch/),
    },
    {
      heading: 'The cloud fails',
      text: 'A failed load balancer is retried after five seconds, then ten, up to five minutes, and every failure is an event of the Service. A node keeps its taint until its instance was found.',
      diagram: `${excerpt(retried, cloudSteps, /create events/)}\n\n${excerpt(late, cloudSteps, /controller\/cloud-node ──► API Server/)}`,
    },
  ])
})
