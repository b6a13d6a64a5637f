// Load balancers on the nodes' own addresses: ports and their owners, classes, traffic policies, and traffic.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import {
  event,
  node,
  pod,
  service,
  startCluster,
  type SimulatedProgram,
  type TestCluster,
} from '../../cluster/index.ts'

const web: SimulatedProgram = ({ serveHttp, terminated }) => {
  serveHttp(8080, () => ({ status: 200, body: 'hello' }))
  return new Promise((resolve) => terminated.addEventListener('abort', () => resolve(0)))
}
const start = (nodes: number) =>
  startCluster({ nodes, loadBalancers: 'node-addresses', simulation: { images: { web } } })

const spec = (port: number, more: object = {}) => ({
  type: 'LoadBalancer',
  selector: { app: 'web' },
  ports: [{ port, targetPort: 8080 }],
  ...more,
})
const create = ({ client }: TestCluster, name: string, port: number, more: object = {}) =>
  client.of(service).create({ metadata: { name }, spec: spec(port, more) } as never)

const addresses = async ({ client }: TestCluster, name: string) => {
  const { status } = await client.of(service).get(name)
  return (status.loadBalancer.ingress ?? []).map(({ ip, ipMode }) => `${ip} ${ipMode}`)
}
const all = ['192.0.2.1 VIP', '192.0.2.2 VIP']

async function warnings({ client }: TestCluster, name: string): Promise<string[]> {
  const { items } = await client.of(event).list()
  return items
    .filter(({ involvedObject, type }) => involvedObject.name === name && type === 'Warning')
    .map(({ reason, message }) => `${reason}: ${message}`)
}

test('a Service gets the addresses of the nodes, and its pods answer there', async () => {
  await using cluster = await start(2)
  const { client, clock } = cluster
  await client.of(pod).create({
    metadata: { name: 'web', labels: { app: 'web' } },
    spec: { containers: [{ name: 'web', image: 'web' }] },
  })
  await create(cluster, 'web', 80, { allocateLoadBalancerNodePorts: false })
  await create(cluster, 'own-class', 81, { loadBalancerClass: 'coxswain.dev/node-addresses' })
  await create(cluster, 'other-class', 80, { loadBalancerClass: 'metallb.io/layer2' })
  await clock.advance('5s')
  deepEqual(await addresses(cluster, 'web'), all)
  deepEqual(await addresses(cluster, 'own-class'), all)
  deepEqual(await addresses(cluster, 'other-class'), [])
  for (const ip of ['192.0.2.1', '192.0.2.2']) {
    const response = await cluster.network.fetch(`http://${ip}/`, { from: 'outside' })
    equal(await response.text(), 'hello')
  }
  const label = 'node.kubernetes.io/exclude-from-external-load-balancers'
  await client.of(node).patch('node-0', { metadata: { labels: { [label]: '' } } })
  await clock.advance('1s')
  deepEqual(await addresses(cluster, 'web'), ['192.0.2.2 VIP'])
  await client.of(service).patch('web', { spec: { type: 'ClusterIP', allocateLoadBalancerNodePorts: null } })
  await clock.advance('1s')
  deepEqual(await addresses(cluster, 'web'), [])
})

test('a port belongs to the oldest Service; the next one gets it when that is deleted', async () => {
  await using cluster = await start(1)
  const { client, clock } = cluster
  for (const [name, port] of [
    ['first', 80],
    ['second', 80],
    ['third', 443],
  ] as const) {
    await create(cluster, name, port)
    await clock.advance('1s')
  }
  deepEqual(await addresses(cluster, 'first'), ['192.0.2.1 VIP'])
  deepEqual(await addresses(cluster, 'second'), [])
  deepEqual(await addresses(cluster, 'third'), ['192.0.2.1 VIP'])
  deepEqual(await warnings(cluster, 'second'), ['PortConflict: port 80/TCP belongs to the older Service default/first'])
  const found = await client.of(service).get('second')
  match(await cluster.why(found), /no load balancer: port 80\/TCP belongs to the older Service default\/first\./)
  await client.of(service).delete('first')
  await clock.advance('1s')
  deepEqual(await addresses(cluster, 'second'), ['192.0.2.1 VIP'])
})

test('node ports and host ports come first: nodes with a host port are left out', async () => {
  await using cluster = await start(2)
  const { client, clock } = cluster
  await clock.advance('5s')
  const ports = [{ port: 80, nodePort: 30_080 }]
  await client.of(service).create({ metadata: { name: 'old' }, spec: { type: 'NodePort', ports } })
  await create(cluster, 'web', 30_080)
  await clock.advance('1s')
  deepEqual(await addresses(cluster, 'web'), [])
  deepEqual(await warnings(cluster, 'web'), ['PortConflict: port 30080/TCP is a node port of Service default/old'])
  await client.of(service).delete('old')
  await clock.advance('1s')
  deepEqual(await addresses(cluster, 'web'), all)
  await create(cluster, 'direct', 53)
  const containers = [{ name: 'c', image: 'i', ports: [{ containerPort: 53, hostPort: 53 }] }]
  await client.of(pod).create({ metadata: { name: 'dns' }, spec: { nodeName: 'node-1', containers } })
  await clock.advance('2s')
  deepEqual(await addresses(cluster, 'direct'), ['192.0.2.1 VIP'])
  deepEqual(await warnings(cluster, 'direct'), ['PortConflict: port 53/TCP is used on node-1 by pod default/dns'])
  await client.of(pod).delete('dns', { gracePeriodSeconds: 0 })
  await clock.advance('1s')
  deepEqual(await addresses(cluster, 'direct'), all)
})

test('nodes on which another program uses a port are left out until it ends', async () => {
  await using cluster = await start(2)
  const { client, clock } = cluster
  const use = (ports: string | null) =>
    client.of(node).patch('node-0', { metadata: { annotations: { 'coxswain.dev/used-ports': ports } } })
  await create(cluster, 'ssh', 22)
  await create(cluster, 'web', 80)
  await clock.advance('5s')
  deepEqual(await addresses(cluster, 'ssh'), all)
  await use('22/TCP,80/UDP')
  await clock.advance('1s')
  deepEqual(await addresses(cluster, 'ssh'), ['192.0.2.2 VIP'])
  deepEqual(await addresses(cluster, 'web'), all)
  deepEqual(await warnings(cluster, 'ssh'), ['PortConflict: port 22/TCP is used on node-0 by another program'])
  await use(null)
  await clock.advance('1s')
  deepEqual(await addresses(cluster, 'ssh'), all)
})

test('with the policy Local only nodes with ready endpoints are used', async () => {
  await using cluster = await start(2)
  const { client, clock } = cluster
  await create(cluster, 'web', 80, { externalTrafficPolicy: 'Local' })
  await clock.advance('2s')
  deepEqual(await addresses(cluster, 'web'), [])
  deepEqual(await warnings(cluster, 'web'), [
    'UnAvailableLoadBalancer: no node has a ready endpoint, and externalTrafficPolicy is Local',
  ])
  await client.of(pod).create({
    metadata: { name: 'web', labels: { app: 'web' } },
    spec: { nodeName: 'node-1', containers: [{ name: 'web', image: 'web' }] },
  })
  await clock.advance('5s')
  deepEqual(await addresses(cluster, 'web'), ['192.0.2.2 VIP'])
})
