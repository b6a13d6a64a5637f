// Where connections to Services go: by type of address, client, policy, endpoints, hints, source ranges and affinity.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { NetworkHost } from '../../machine/network/link-faults.ts'
import type { Endpoint } from '../../api/discovery/v1/endpoint.ts'
import { endpointAt, serviceWith, sliceWith } from '../../proxy/routing/routing.harness.ts'
import { routedService } from '../../proxy/routing/service-route.ts'
import { ServiceRouter, type Routing } from './service-router.ts'

const nodes = [
  { name: 'node-a', address: '192.0.2.1' },
  { name: 'node-b', address: '192.0.2.2' },
]
const podOnA: NetworkHost = { address: '10.0.0.1', pod: 'default/a', node: 'node-a' }
const podOnB: NetworkHost = { address: '10.0.1.1', pod: 'default/b', node: 'node-b' }
const nodeB: NetworkHost = { address: '192.0.2.2', pod: '', node: 'node-b' }
const outside: NetworkHost = { address: '203.0.113.1', pod: '', node: '' }

const clusterIp = '10.96.0.20'
const nodePort = { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30080 }
const balancer = {
  type: 'LoadBalancer',
  ports: [nodePort],
  externalIPs: ['198.51.100.7'],
}
const ingress = { loadBalancer: { ingress: [{ ip: '203.0.113.80' }] } }

function routerOf(spec: object, endpoints: readonly Endpoint[], nodesOn = nodes) {
  const clock = new VirtualClock(0)
  const object = serviceWith(spec, {}, ingress)
  const slices = [sliceWith(endpoints)]
  const addresses = [clusterIp, ...(object.spec.externalIPs ?? []), '203.0.113.80']
  const router = new ServiceRouter({
    clock,
    random: seededRandom(1),
    servicesAt: (address) => (addresses.includes(address) ? [object] : []),
    servicesAtNodePort: (port) => (port === 30080 ? [object] : []),
    routesOf: (each, name) => routedService(each, slices, { name }),
    nodeAt: (address) => nodes.find((node) => node.address === address),
    addressOf: (name) => nodes.find((node) => node.name === name)?.address ?? '',
    nodes: () => nodesOn,
  })
  return { router, clock, slices }
}

const textOf = (routing: Routing): string =>
  routing.kind === 'endpoint' ? `${routing.address}:${routing.port} from ${routing.sourceAddress}` : routing.kind

const onA = endpointAt('10.0.0.1')
const local = { ...balancer, externalTrafficPolicy: 'Local' }
const ranged = { ...balancer, loadBalancerSourceRanges: ['203.0.113.0/30'] }
const terminating = endpointAt('10.0.0.1', { ready: false, serving: true, terminating: true })

const hinted = (address: string, node: string) => endpointAt(address, {}, { hints: { forNodes: [{ name: node }] } })
const near = [hinted('10.0.0.1', 'node-a'), hinted('10.0.0.2', 'node-b')]

type Row = readonly [
  name: string,
  spec: object,
  endpoints: readonly Endpoint[],
  client: NetworkHost,
  address: string,
  port: number,
  routing: string,
]
const rows: readonly Row[] = [
  ['cluster IP from a pod', {}, [onA], podOnB, clusterIp, 80, '10.0.0.1:8080 from 10.0.1.1'],
  ['cluster IP from a node', {}, [onA], nodeB, clusterIp, 80, '10.0.0.1:8080 from 192.0.2.2'],
  ['cluster IP from the endpoint itself', {}, [onA], podOnA, clusterIp, 80, '10.0.0.1:8080 from 192.0.2.1'],
  ['cluster IP from outside', {}, [onA], outside, clusterIp, 80, 'unreachable'],
  ['cluster IP at another port', {}, [onA], podOnB, clusterIp, 81, 'rejected'],
  ['cluster IP without endpoints', {}, [], podOnB, clusterIp, 80, 'rejected'],
  ['cluster IP with a terminating endpoint', {}, [terminating], podOnB, clusterIp, 80, '10.0.0.1:8080 from 10.0.1.1'],
  [
    'internal policy Local with a local endpoint',
    { internalTrafficPolicy: 'Local' },
    [onA],
    podOnA,
    clusterIp,
    80,
    '10.0.0.1:8080 from 192.0.2.1',
  ],
  ['internal policy Local without one', { internalTrafficPolicy: 'Local' }, [onA], podOnB, clusterIp, 80, 'dropped'],
  ['endpoints with hints', {}, near, podOnB, clusterIp, 80, '10.0.0.2:8080 from 10.0.1.1'],
  ['UDP port', { ports: [{ ...nodePort, protocol: 'UDP' }] }, [onA], podOnB, clusterIp, 80, 'rejected'],
  ['node port from outside', balancer, [onA], outside, '192.0.2.2', 30080, '10.0.0.1:8080 from 192.0.2.2'],
  ['node port from a pod of another node', balancer, [onA], podOnB, '192.0.2.1', 30080, '10.0.0.1:8080 from 192.0.2.1'],
  ['another port of a node', balancer, [onA], outside, '192.0.2.2', 30081, 'direct'],
  [
    'node port with Local and a local endpoint',
    local,
    [onA],
    outside,
    '192.0.2.1',
    30080,
    '10.0.0.1:8080 from 203.0.113.1',
  ],
  ['node port with Local and none', local, [onA], outside, '192.0.2.2', 30080, 'dropped'],
  [
    'node port with Local from the node itself',
    local,
    [onA],
    nodeB,
    '192.0.2.2',
    30080,
    '10.0.0.1:8080 from 192.0.2.2',
  ],
  [
    'load balancer with Local from outside',
    local,
    [onA],
    outside,
    '203.0.113.80',
    80,
    '10.0.0.1:8080 from 203.0.113.1',
  ],
  ['load balancer from a pod', balancer, [onA], podOnB, '203.0.113.80', 80, '10.0.0.1:8080 from 192.0.2.2'],
  ['load balancer without endpoints', balancer, [], outside, '203.0.113.80', 80, 'rejected'],
  [
    'load balancer within the source ranges',
    ranged,
    [onA],
    { ...outside, address: '203.0.113.2' },
    '203.0.113.80',
    80,
    '10.0.0.1:8080 from 192.0.2.2',
  ],
  [
    'load balancer outside of the source ranges',
    ranged,
    [onA],
    { ...outside, address: '203.0.113.9' },
    '203.0.113.80',
    80,
    'dropped',
  ],
  ['load balancer with source ranges from a pod', ranged, [onA], podOnB, '203.0.113.80', 80, 'dropped'],
  [
    'load balancer with source ranges from a node',
    ranged,
    [onA],
    nodeB,
    '203.0.113.80',
    80,
    '10.0.0.1:8080 from 192.0.2.2',
  ],
  ['external IP', ranged, [onA], podOnB, '198.51.100.7', 80, '10.0.0.1:8080 from 192.0.2.2'],
  ['external IP at another port', balancer, [onA], podOnB, '198.51.100.7', 81, 'direct'],
  ['an address of no Service', {}, [onA], podOnB, '10.0.0.1', 8080, 'direct'],
]
for (const [name, spec, endpoints, client, address, port, expected] of rows)
  test(name, () => equal(textOf(routerOf(spec, endpoints).router.route(client, address, port)), expected))

const many = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'].map((address) => endpointAt(address))
const addressesOf = (router: ServiceRouter, client: NetworkHost, count: number) =>
  Array.from({ length: count }, () => textOf(router.route(client, clusterIp, 80)).split(':')[0])

test('connections are spread over all endpoints', () => {
  const { router } = routerOf({}, many)
  equal(new Set(addressesOf(router, podOnB, 40)).size, 4)
})

test('a client with affinity keeps its endpoint as long as it connects within the timeout', async () => {
  const config = { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } } }
  const { router, clock, slices } = routerOf(config, many)
  const [first] = addressesOf(router, podOnB, 1)
  for (let each = 0; each < 10; each++) {
    await clock.advance('9s')
    deepEqual(addressesOf(router, podOnB, 1), [first])
  }
  const after = new Set<string | undefined>()
  for (let each = 0; each < 20; each++) {
    await clock.advance('10s')
    for (const address of addressesOf(router, podOnB, 1)) after.add(address)
  }
  equal(after.size > 1, true)
  const [last] = addressesOf(router, podOnB, 1)
  slices[0] = sliceWith(many.filter(({ addresses }) => addresses[0] !== last))
  equal(addressesOf(router, podOnB, 10).includes(last), false)
})

test('a load balancer without nodes drops connections', () => {
  const { router } = routerOf(balancer, [onA], [])
  equal(textOf(router.route(outside, '203.0.113.80', 80)), 'dropped')
})

test('a load balancer without healthy nodes sends connections to any', () => {
  const { router } = routerOf(local, [{ ...onA, nodeName: 'node-c' }])
  equal(textOf(router.route(outside, '203.0.113.80', 80)), 'dropped')
})
