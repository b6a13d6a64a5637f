// Load balancers from a pool: assignment, exhaustion, sharing, classes, restarts, traffic.
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

const start = (pool: string, more: object = {}) =>
  startCluster({ nodes: 1, loadBalancers: { addresses: pool }, ...more })

const create = ({ client }: TestCluster, name: string, port: number, more: object = {}) =>
  client.of(service).create({
    metadata: { name },
    spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port, targetPort: 8080 }], ...more },
  } as never)

async function addresses({ client }: TestCluster, name: string): Promise<string> {
  const { status } = await client.of(service).get(name)
  return (status.loadBalancer.ingress ?? []).map(({ ip, ipMode }) => `${ip} ${ipMode}`).join(', ')
}

async function events({ client }: TestCluster, name: string): Promise<string[]> {
  const { items } = await client.of(event).list()
  return items
    .filter(
      ({ involvedObject, source }) => involvedObject.name === name && source?.component?.startsWith('address-pool'),
    )
    .map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
}

test('a Service gets an address of the pool, and its pods answer there', async () => {
  const web: SimulatedProgram = ({ serveHttp, terminated }) => {
    serveHttp(8080, () => ({ status: 200, body: 'hello' }))
    return new Promise((resolve) => terminated.addEventListener('abort', () => resolve(0)))
  }
  await using cluster = await start('192.0.2.200-192.0.2.201', { simulation: { images: { web } } })
  const { client, clock } = cluster
  await client.of(pod).create({
    metadata: { name: 'web', labels: { app: 'web' } },
    spec: { containers: [{ name: 'web', image: 'web' }] },
  })
  await create(cluster, 'web', 80)
  await create(cluster, 'own-class', 80, { loadBalancerClass: 'coxswain.dev/address-pool' })
  await create(cluster, 'other-class', 80, { loadBalancerClass: 'metallb.io/layer2' })
  await clock.advance('5s')
  equal(await addresses(cluster, 'web'), '192.0.2.200 VIP')
  equal(await addresses(cluster, 'own-class'), '192.0.2.201 VIP')
  equal(await addresses(cluster, 'other-class'), '')
  deepEqual(await events(cluster, 'web'), ['Normal EnsuredLoadBalancer: Assigned 192.0.2.200'])
  const response = await cluster.network.fetch('http://192.0.2.200/', { from: 'outside' })
  equal(await response.text(), 'hello')
  await client.of(service).patch('web', { spec: { type: 'ClusterIP', allocateLoadBalancerNodePorts: null } })
  await clock.advance('1s')
  equal(await addresses(cluster, 'web'), '')
})

test('a Service that gets none waits until an address is free; why says so', async () => {
  await using cluster = await start('192.0.2.200')
  const { client, clock } = cluster
  await create(cluster, 'first', 80)
  await clock.advance('1s')
  await create(cluster, 'second', 80)
  await clock.advance('1s')
  equal(await addresses(cluster, 'second'), '')
  deepEqual(await events(cluster, 'second'), ['Warning AllocationFailed: all IPv4 addresses of the pool are used'])
  const waiting = await client.of(service).get('second')
  match(await cluster.why(waiting), /no load balancer: all IPv4 addresses of the pool are used\./)
  await client.of(service).delete('first')
  await clock.advance('1s')
  equal(await addresses(cluster, 'second'), '192.0.2.200 VIP')
})

test('Services that are created at once get different addresses', async () => {
  await using cluster = await start('192.0.2.200-192.0.2.219')
  const names = Array.from({ length: 20 }, (_, index) => `web-${index}`)
  await Promise.all(names.map((name) => create(cluster, name, 80)))
  await cluster.clock.advance('2s')
  const all = await Promise.all(names.map((name) => addresses(cluster, name)))
  equal(new Set(all).size, 20)
  equal(all.includes(''), false)
})

test('an address that several Services name is shared while their ports differ', async () => {
  await using cluster = await start('192.0.2.200-192.0.2.201')
  const { client, clock } = cluster
  const loadBalancerIP = '192.0.2.201'
  await create(cluster, 'first', 80, { loadBalancerIP })
  await clock.advance('1s')
  await create(cluster, 'second', 443, { loadBalancerIP })
  await clock.advance('1s')
  for (const name of ['first', 'second']) equal(await addresses(cluster, name), '192.0.2.201 VIP')
  const ports = [
    { name: 'http', port: 80 },
    { name: 'https', port: 443 },
  ]
  await client.of(service).patch('first', { spec: { ports } })
  await clock.advance('1s')
  equal(await addresses(cluster, 'first'), '192.0.2.201 VIP')
  equal(await addresses(cluster, 'second'), '')
  deepEqual(await events(cluster, 'second'), [
    'Normal EnsuredLoadBalancer: Assigned 192.0.2.201',
    'Warning AllocationFailed: port 443/TCP of address 192.0.2.201 belongs to Service default/first',
  ])
})

test('addresses are kept at a restart, and an address that a node gets is replaced', async () => {
  await using cluster = await start('192.0.2.200-192.0.2.202')
  const { client, clock } = cluster
  for (const name of ['first', 'second']) {
    await create(cluster, name, 80)
    await clock.advance('1s')
  }
  await client.of(service).delete('first')
  await cluster.kill('controllers')
  cluster.start('controllers')
  await clock.advance('2s')
  equal(await addresses(cluster, 'second'), '192.0.2.201 VIP')
  const status = { addresses: [{ type: 'ExternalIP', address: '192.0.2.201' }] }
  await client.of(node).create({ metadata: { name: 'other' } })
  await client.of(node).patch('other', '', { status }, 'merge', undefined, 'status')
  await clock.advance('2s')
  equal(await addresses(cluster, 'second'), '192.0.2.200 VIP')
})

test('a Service with two families gets an address of each', async () => {
  const serviceFlags = { 'service-cluster-ip-range': '10.96.0.0/16,fd00:96::/112' }
  await using cluster = await start('192.0.2.200,fd00::200-fd00::20f', { serviceFlags })
  await create(cluster, 'web', 80, { ipFamilyPolicy: 'RequireDualStack' })
  await cluster.clock.advance('2s')
  equal(await addresses(cluster, 'web'), '192.0.2.200 VIP, fd00::200 VIP')
})
