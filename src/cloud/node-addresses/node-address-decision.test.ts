// The addresses of a load balancer on nodes, and why it has none.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { node } from '../../api/core/v1/node/node.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { made } from '../../controllers/runtime/plan.harness.ts'
import { nodeAddressDecision, type NodeAddressView } from './node-address-decision.ts'

const ready = [{ type: 'Ready', status: 'True' }]
const nodeAt = (name: string, addresses: readonly (readonly [type: string, address: string])[], status: object = {}) =>
  made(node, name, {
    status: { conditions: ready, addresses: addresses.map(([type, address]) => ({ type, address })), ...status },
  })
const web = (spec: object = {}) =>
  made(service, 'web', {
    spec: { type: 'LoadBalancer', ipFamilies: ['IPv4'], ports: [{ port: 80, protocol: 'TCP' }], ...spec },
  })

const a = nodeAt('a', [
  ['InternalIP', '192.0.2.1'],
  ['InternalIP', 'fd00::1'],
])
const b = nodeAt('b', [
  ['InternalIP', '192.0.2.2'],
  ['ExternalIP', '198.51.100.2'],
])
const decide = (spec: object, view: Partial<NodeAddressView>) => {
  const none = {
    services: [],
    nodes: [a],
    pods: [],
    slices: [],
    apiServers: new Map<string, number>(),
    reserved: ['10.96.0.0/16', '10.244.0.0/16'],
  }
  const { ingress, problems } = nodeAddressDecision(web(spec), { ...none, ...view })
  return [ingress.map(({ ip }) => ip), problems.map(({ message }) => message)]
}

test('external addresses of a node are preferred, and families are those of the Service', () => {
  deepEqual(decide({}, {}), [['192.0.2.1'], []])
  deepEqual(decide({}, { nodes: [b, a] }), [['192.0.2.1', '198.51.100.2'], []])
  deepEqual(decide({ ipFamilies: ['IPv6', 'IPv4'] }, {}), [['192.0.2.1', 'fd00::1'], []])
  deepEqual(decide({ ipFamilies: ['IPv6'] }, { nodes: [b] }), [[], ['no node has an address of family IPv6']])
})

test('nodes that are not ready do not count', () => {
  const unready = nodeAt('c', [['InternalIP', '192.0.2.3']], { conditions: [{ type: 'Ready', status: 'Unknown' }] })
  deepEqual(decide({}, { nodes: [unready] }), [[], ['There are no available nodes for LoadBalancer']])
})

test('ports of the kubelet and of the API server are not taken', () => {
  const kubelet = nodeAt('k', [['InternalIP', '192.0.2.4']], { daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } } })
  const ports = (port: number) => ({ ports: [{ port, protocol: 'TCP' }] })
  deepEqual(decide(ports(10_250), { nodes: [kubelet] }), [[], ['port 10250/TCP is used on k by the kubelet']])
  const apiServers = new Map([['192.0.2.1', 6443]])
  deepEqual(decide(ports(6443), { apiServers }), [[], ['port 6443/TCP is used on a by the API server']])
  const onLoopback = made(node, 'a', { ...a, spec: { podCIDRs: ['10.244.0.0/24'] } })
  const forPods = new Map([['10.244.0.1', 6443]])
  deepEqual(decide(ports(6443), { nodes: [onLoopback], apiServers: forPods }), [
    [],
    ['port 6443/TCP is used on a by the API server'],
  ])
  deepEqual(decide(ports(6443), { apiServers: forPods }), [['192.0.2.1'], []])
  deepEqual(decide({ ports: [{ port: 6443, protocol: 'UDP' }] }, { apiServers }), [['192.0.2.1'], []])
})

test('the number of addresses is limited', () => {
  const nodes = Array.from({ length: 100 }, (_, index) => nodeAt(`n${index}`, [['InternalIP', `192.0.2.${index}`]]))
  equal(decide({}, { nodes })[0]?.length, 64)
})

const joined = (addresses: readonly (readonly [type: string, address: string])[], spec: object = {}) =>
  made(node, 'joined', {
    metadata: { name: 'joined', uid: 'j', creationTimestamp: '2030-01-01T00:00:00Z' },
    spec,
    status: { conditions: ready, addresses: addresses.map(([type, address]) => ({ type, address })) },
  })
const claims: [why: string, type: string, address: string][] = [
  ['the address of an older node', 'InternalIP', '192.0.2.1'],
  ['the address of an older node, as an external one', 'ExternalIP', '192.0.2.1'],
  ['the address of a Service', 'ExternalIP', '10.96.0.1'],
  ['the address of a pod', 'ExternalIP', '10.244.7.7'],
  ['loopback', 'ExternalIP', '127.0.0.1'],
  ['a link-local address', 'ExternalIP', '169.254.169.254'],
  ['no address', 'ExternalIP', '192.0.2.9\nfilter'],
]
for (const [why, type, address] of claims)
  test(`a node that names ${why} changes no load balancer`, () => {
    deepEqual(decide({}, { nodes: [joined([[type, address]]), a] }), [['192.0.2.1'], []])
  })

test('a node that names an address in its range of pods changes no load balancer; loopback is for one node alone', () => {
  const own = joined([['InternalIP', '10.9.0.7']], { podCIDRs: ['10.9.0.0/24'] })
  deepEqual(decide({}, { nodes: [own, a] }), [['192.0.2.1'], []])
  deepEqual(decide({}, { nodes: [joined([['InternalIP', '192.0.2.9']]), a] }), [['192.0.2.1', '192.0.2.9'], []])
  deepEqual(decide({}, { nodes: [nodeAt('local', [['InternalIP', '127.0.0.1']])] }), [['127.0.0.1'], []])
})

test('a node with many addresses does not displace those of others', () => {
  const many = Array.from({ length: 100 }, (_, index) => ['ExternalIP', `198.51.100.${index + 1}`] as const)
  const [addresses = []] = decide({}, { nodes: [nodeAt('0', many), a] })
  deepEqual(addresses, ['198.51.100.1', '198.51.100.2', '198.51.100.3', '198.51.100.4', '192.0.2.1'])
})
