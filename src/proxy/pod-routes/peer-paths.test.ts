import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { mustParseCidr as cidr } from '../../base/net/cidr.ts'
import { mustParseIp as ip } from '../../base/net/ip-address.ts'
import { gatewayOf, hardwareAddressOf, nextHopOf, peerPaths, type Peer } from './peer-paths.ts'

const near: Peer = { name: 'near', addresses: [ip('192.0.2.2')], podRanges: [cidr('10.244.1.0/24')] }
const far: Peer = { name: 'far', addresses: [ip('198.51.100.3')], podRanges: [cidr('10.244.2.0/24')] }
const isAdjacent = (address: string) => address.startsWith('192.0.2.') || address.startsWith('2001:db8:1:')

test('pods of a node on the same segment are reached by a route, others through VXLAN', () =>
  deepEqual(peerPaths([near, far], isAdjacent), {
    routes: [
      { range: '10.244.1.0/24', via: '192.0.2.2', kind: 'route' },
      { range: '10.244.2.0/24', via: '10.244.2.0', kind: 'vxlan' },
    ],
    tunnels: [{ hardwareAddress: '02:58:0a:f4:02:00', nodeAddress: '198.51.100.3', nextHops: ['10.244.2.0'] }],
    nodes: new Map([
      ['near', 'route'],
      ['far', 'vxlan'],
    ]),
  }))

test('a range needs an adjacent address of its own family, otherwise it takes the tunnel', () => {
  const both: Peer = { ...near, podRanges: [cidr('10.244.1.0/24'), cidr('fd00:0:0:1::/64')] }
  const { routes, tunnels, nodes } = peerPaths([both], isAdjacent)
  deepEqual(
    routes.map(({ via, kind }) => [via, kind]),
    [
      ['192.0.2.2', 'route'],
      ['fd00:0:0:1::', 'vxlan'],
    ],
  )
  deepEqual([tunnels[0]?.nodeAddress, nodes.get('near')], ['192.0.2.2', 'vxlan'])
  const dual = { ...both, addresses: [ip('192.0.2.2'), ip('2001:db8:1::2')] }
  deepEqual(
    peerPaths([dual], isAdjacent).routes.map(({ via }) => via),
    ['192.0.2.2', '2001:db8:1::2'],
  )
})

test('a node without addresses has no path', () =>
  deepEqual(peerPaths([{ ...near, addresses: [] }], isAdjacent), { routes: [], tunnels: [], nodes: new Map() }))

test('addresses that follow from a range', () => {
  deepEqual([nextHopOf(cidr('10.244.1.0/24')), gatewayOf(cidr('10.244.1.0/24'))], ['10.244.1.0', '10.244.1.1'])
  equal(gatewayOf(cidr('fd00:0:0:1::/64')), 'fd00:0:0:1::1')
  equal(hardwareAddressOf([cidr('255.244.2.0/24')]), '02:58:ff:f4:02:00')
  notEqual(hardwareAddressOf([cidr('fd00:0:0:1::/64')]), hardwareAddressOf([cidr('fd00:0:0:2::/64')]))
})
